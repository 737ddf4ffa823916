import { expect, test } from 'vitest';
import { topicsToRemove } from './settle-topics.ts';

const EXISTING = [
  'school.course.published.v1',
  'school.course.recommended.v1',
  'school._dlq.hello.course.published.v1',
  'school._dlq.other.course.published.v1',
  'school2.course.published.v1',
  'school.internal',
];
const types = { consumes: ['course.published.v1'], produces: ['course.recommended.v1'] };

test.each<[string, string[], string[]]>([
  ['those that it alone names', [], EXISTING.slice(0, 3)],
  ['not those that another plugin names', ['course.published.v1'], EXISTING.slice(1, 3)],
])('topicsToRemove with a plugin’s data are %s', (_, others, expected) => {
  expect(topicsToRemove(EXISTING, { tenant: 'school', plugin: 'hello', types }, others)).toEqual(expected);
});
