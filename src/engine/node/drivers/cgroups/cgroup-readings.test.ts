import { expect, test } from 'vitest';
import { parseProcesses, valueOf, workingSet } from './cgroup-readings.ts';

const OOM_CONTROL = 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n';

test.each([
  ['a whole word', 'oom_kill', 3],
  ['the beginning of a longer word', 'oom', undefined],
  ['a word that is not there', 'low', undefined],
])('valueOf reads %s', (_, key, expected) => {
  expect(valueOf(OOM_CONTROL, key)).toBe(expected);
});

test('workingSet leaves out idle file pages', () => {
  expect(workingSet(1000, 'inactive_anon 5\ninactive_file 300\n', 'inactive_file')).toBe(700);
});

test('workingSet is never negative, when the counters were read at different moments', () => {
  expect(workingSet(100, 'inactive_file 300\n', 'inactive_file')).toBe(0);
});

test('parseProcesses reads one process id per line, and none from an empty file', () => {
  expect(parseProcesses('12\n345\n')).toEqual([12, 345]);
  expect(parseProcesses('')).toEqual([]);
});
