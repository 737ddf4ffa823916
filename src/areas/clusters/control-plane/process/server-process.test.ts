import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { realClock } from '../../../../lib/clock.ts';
import { endProcess } from './end-process.ts';
import { ServerProcess } from './server-process.ts';

let folder = '';
let server: ServerProcess;

afterEach(async () => {
  await endProcess(server.identity);
  rmSync(folder, { recursive: true, force: true });
});

it('a program that never comes to serve, is waited for no longer, when the signal fires', async () => {
  folder = mkdtempSync(join(tmpdir(), 'server-process-'));
  const program = join(folder, 'silent.mjs');
  writeFileSync(program, 'setInterval(() => {}, 1000);\n');
  server = new ServerProcess(folder, realClock);
  await server.load({ program, args: [], logPath: join(folder, 'log') }, undefined);
  const stop = new AbortController();
  const answer = server.answer(
    {},
    () => {},
    () => {},
    stop.signal,
  );
  stop.abort(new Error('stopped'));
  await expect(answer).rejects.toThrow('stopped');
  expect(server.isLive).toBe(false);
});
