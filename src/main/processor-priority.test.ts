import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';
import { afterAll, expect, test } from 'vitest';
import { goAhead } from './processor-priority.ts';

const before = getPriority();
/** Others share the machine as they are. */
const mayGoAhead = process.platform === 'linux' && process.getuid?.() === 0 && before === 0;

afterAll(() => {
  if (mayGoAhead) for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), before);
});

test('goAhead puts root before others, and leaves who may not as they are', () => {
  goAhead();
  expect(getPriority()).toBe(mayGoAhead ? (availableParallelism() > 1 ? -10 : -5) : before);
});

test('what is started after goAhead is an ordinary process', async () => {
  const child = spawn('sleep', ['30']);
  await once(child, 'spawn');
  expect(getPriority(child.pid)).toBe(before);
  child.kill('SIGKILL');
  await once(child, 'exit');
});
