import { expect, test } from 'vitest';
import { processorTimes, wereScarce } from './processor-times.ts';

test.each([
  { what: 'not known', before: undefined, idle: 0, expected: false },
  { what: 'scarce', before: { idle: 50, total: 100 }, idle: 65, expected: true },
  { what: 'enough', before: { idle: 50, total: 100 }, idle: 75, expected: false },
])('with $idle of 200 idle after $before processors are $what', ({ before, idle, expected }) => {
  expect(wereScarce(before, { idle, total: 200 })).toBe(expected);
});

test('processorTimes are those of this machine', () => {
  const { idle, total } = processorTimes();
  expect(total).toBeGreaterThan(idle);
  expect(processorTimes().total).toBeGreaterThanOrEqual(total);
});
