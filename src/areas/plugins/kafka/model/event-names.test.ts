import { describe, expect, test } from 'vitest';
import {
  clientPrefixOf,
  deadLetterPrefixOf,
  deadLetterTopicOf,
  isTopicOfTenant,
  ownerOf,
  topicOf,
  userOf,
  usersOf,
} from './event-names.ts';

describe('names at the broker', () => {
  const long = 'p'.repeat(62);
  const pairs = [
    ['a-b', 'c'],
    ['a', 'b-c'],
    ['t1', 'x'],
    ['t10', 'x'],
    ['a', 'b'],
    ['t'.repeat(63), `${long}a`],
    ['t'.repeat(63), `${long}b`],
  ] as const;

  test('say whose they are in one way only', () => {
    const all = pairs.flatMap(([tenant, plugin]) => usersOf(tenant, plugin));
    expect(new Set(all).size).toBe(all.length);
    for (const [tenant, plugin] of pairs) expect(ownerOf(userOf(tenant, plugin, 'b'))).toEqual({ tenant, plugin });
    expect(ownerOf('admin')).toBeUndefined();
  });

  test.each([
    ['groups and transactional ids', clientPrefixOf],
    ['dead letters', deadLetterPrefixOf],
  ])('begin, for %s, with what nothing of another plugin begins with', (_, prefixOf) => {
    for (const [one, of] of pairs) {
      for (const [other, plugin] of pairs) {
        if (one === other && of === plugin) continue;
        expect(`${prefixOf(other, plugin)}main`.startsWith(prefixOf(one, of))).toBe(false);
      }
    }
  });

  test('keep events and dead letters apart', () => {
    // An event type cannot have an underscore, so none leads to the dead letters of somebody.
    expect(topicOf('school', 'dlq.hello.course.published.v1')).not.toBe(deadLetterTopicOf('school', 'hello', 'course.published.v1'));
    expect(deadLetterTopicOf('school', 'hello', 'course.published.v1')).toBe('school._dlq.hello.course.published.v1');
  });

  test('fit, and differ where only their ends do', () => {
    const type = (end: string) => `${'e'.repeat(60)}.${'v'.repeat(60)}.${end}`;
    const topics = ['v1', 'v2'].map((end) => deadLetterTopicOf('t'.repeat(63), long, type(end)));
    for (const topic of topics) expect(topic.length).toBeLessThanOrEqual(249);
    expect(topics[0]).not.toBe(topics[1]);
    expect(topics[0].startsWith(deadLetterPrefixOf('t'.repeat(63), long))).toBe(true);
  });

  test.each([
    ['an event', 'school.course.published.v1', true],
    ['dead letters', 'school._dlq.hello.course.published.v1', true],
    ['that of a tenant whose name begins the same', 'school2.course.published.v1', false],
    ['that of somebody else who uses the name', 'school.internal', false],
    ['one of Kafka itself', '__consumer_offsets', false],
  ])('tell of %s whether it is the tenant’s', (_, topic, is) => {
    expect(isTopicOfTenant(topic, 'school')).toBe(is);
  });
});
