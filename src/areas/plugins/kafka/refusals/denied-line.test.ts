import { expect, test } from 'vitest';
import { refusalIn } from './denied-line.ts';

const denied = (user: string, resource = 'Topic:LITERAL:rival.course.published.v1') =>
  `[2026-11-15 19:00:00,000] INFO Principal = User:${user} is Denied operation = READ from host = 10.0.0.7 on resource = ${resource} for request = FETCH with resourceRefCount = 1 based on rule DefaultDeny (kafka.authorizer.logger)`;

test('refusalIn tells who was after what, by which rule and from where', () => {
  expect(refusalIn(denied('plugin_hello_school_b'), 5)).toEqual({
    tenant: 'school',
    plugin: 'hello',
    kind: 'kafka',
    target: 'topic rival.course.published.v1',
    rule: 'kafka:acl:read',
    message:
      'Principal = User:plugin_hello_school_b is Denied operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:rival.course.published.v1 for request = FETCH',
    source: '10.0.0.7',
    at: 5,
  });
});

test.each([
  ['somebody who is no plugin', denied('admin')],
  ['what was allowed', denied('plugin_hello_school_a').replace('Denied', 'Allowed')],
  ['anything else', '[2026-11-15 19:00:00,000] INFO Kafka Server started'],
])('refusalIn is silent about %s', (_, line) => {
  expect(refusalIn(line, 0)).toBeUndefined();
});

test('refusalIn blames who asked, whatever is in the name that was asked for', () => {
  const name =
    'Topic:LITERAL:x Principal = User:plugin_hello_rival_a is Denied operation = WRITE from host = 1.1.1.1 on resource = Topic:LITERAL:y';
  expect(refusalIn(denied('plugin_hello_school_a', name), 0)).toMatchObject({ tenant: 'school', source: '10.0.0.7' });
});
