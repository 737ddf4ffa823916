import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { parsePostmaster, type Postmaster } from './postmaster-file.ts';

const LOOK_AGAIN_MS = 25;
/** A server that was killed replays its log first. */
const START_PATIENCE_MS = 120_000;
/** `SIGINT` ends connections and writes everything; then no more patience. */
const STOP_PATIENCE_MS = 20_000;

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.setTimer(ms, resolve).hold?.());
}

export async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  return parsePostmaster(await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => ''));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The server that works in this folder already. The number in the file may belong to any process by now, after a reboot above all: what
 * counts is where that process works. A file without its server is taken away, because PostgreSQL would only look at the number.
 */
export async function findServer(data: string): Promise<Postmaster | undefined> {
  const postmaster = await readPostmaster(data);
  if (postmaster && isAlive(postmaster.pid) && (await worksIn(postmaster.pid, data))) return postmaster;
  await rm(join(data, 'postmaster.pid'), { force: true });
  return undefined;
}

async function worksIn(pid: number, data: string): Promise<boolean> {
  const [folder, own] = await Promise.all([stat(`/proc/${pid}/cwd`).catch(() => undefined), stat(data)]);
  // Systems without /proc: PostgreSQL decides.
  if (folder === undefined) return process.platform !== 'linux';
  return folder.ino === own.ino && folder.dev === own.dev;
}

/** @throws Error with the end of what it said, when it does not get there */
export async function untilReady(clock: Clock, data: string, hasEnded: () => boolean, said: () => Promise<string>): Promise<Postmaster> {
  const deadline = clock.monotonic() + START_PATIENCE_MS;
  while (!hasEnded() && clock.monotonic() < deadline) {
    const postmaster = await readPostmaster(data);
    if (postmaster?.isReady) return postmaster;
    await pause(clock, LOOK_AGAIN_MS);
  }
  throw new Error(`Cannot start PostgreSQL: ${(await said()) || 'it does not get ready'}`);
}

export async function stopServer(clock: Clock, pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isAlive(pid)) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const deadline = clock.monotonic() + STOP_PATIENCE_MS;
    while (isAlive(pid) && clock.monotonic() < deadline) await pause(clock, LOOK_AGAIN_MS);
  }
}
