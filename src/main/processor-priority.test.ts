import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { AHEAD, FAR_AHEAD, goAhead } from './processor-priority.ts';

const before = getPriority();
/** Others share the machine as they are. */
const mayGoAhead = process.platform === 'linux' && process.getuid?.() === 0 && before === 0;

const threads = () => (process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0]);

afterAll(() => {
  if (mayGoAhead) for (const thread of threads()) setPriority(thread, before);
});

test('goAhead puts root before others, and leaves who may not as they are', () => {
  goAhead(AHEAD);
  expect(threads().map((thread) => getPriority(thread))).toEqual(threads().map(() => (mayGoAhead ? AHEAD : before)));
  expect(FAR_AHEAD).toBeLessThanOrEqual(AHEAD);
});

test('what is started after goAhead is an ordinary process', async () => {
  const child = spawn('sleep', ['30']);
  await once(child, 'spawn');
  expect(getPriority(child.pid)).toBe(before);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('the thread that unpacks images is ahead of nobody, and who made it stays so', async () => {
  const old = new Set(threads());
  const thread = new Worker(resolve('dist/unpack.js'));
  await vi.waitFor(() => expect(threads().some((id) => !old.has(id) && getPriority(id) === before)).toBe(true), 15_000);
  expect([...old].filter((id) => threads().includes(id)).map((id) => getPriority(id))).not.toContain(mayGoAhead ? before : undefined);
  await thread.terminate();
});
