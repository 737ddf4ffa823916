import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { Clock } from '../../../../lib/clock.ts';
import { Programs } from '../program/programs.ts';
import { Records } from '../program/records.ts';
import { prepareShimFolder, recordsFolder, removeSocket, socketPath } from '../shim-paths.ts';
import { Reaper } from '../system/reaper.ts';
import { loadSystemCalls } from '../system/system-calls.ts';
import { Lifetime } from './lifetime.ts';
import { ShimConnection } from './shim-connection.ts';
import { holdShimLock } from './shim-lock.ts';

export interface ShimServerOptions {
  /** The node's folder. */
  dir: string;
  clock: Clock;
  warn: (message: string) => void;
  /** How long it stays without clients and running programs. */
  idleMs?: number;
}

export interface ShimServer {
  /** Resolves when nobody needs it any more: no program runs, and no client has come for a while. */
  finished: Promise<void>;
  /** From now on it does not wait for clients: it finishes with its last program. */
  finishWhenIdle(): void;
}

const IDLE_MS = 30_000;

/** Undefined when another shim serves this folder already. */
export async function startShimServer(options: ShimServerOptions): Promise<ShimServer | undefined> {
  const { dir, clock, warn } = options;
  const calls = await loadSystemCalls(warn);
  prepareShimFolder(dir);
  if (!holdShimLock(dir, calls)) return undefined;
  const reaper = calls && new Reaper(calls);
  reaper?.start();
  const lifetime = new Lifetime(clock, options.idleMs ?? IDLE_MS, () => programs.runningCount);
  const programs = new Programs({ records: new Records(recordsFolder(dir)), calls, reaper, clock, warn, onChange: () => lifetime.check() });
  await programs.recover();
  const server = createServer((socket) => {
    lifetime.clientCame();
    socket.once('close', () => lifetime.clientLeft());
    // oxlint-disable-next-line no-new -- lives as long as its socket
    new ShimConnection(socket, { programs, calls, reaper, clock, warn, onEndIfIdle: () => lifetime.finishWhenIdle() });
  });
  // The one before us may have removed it while we waited for the lock.
  prepareShimFolder(dir);
  await listen(server, socketPath(dir));
  lifetime.check();
  return {
    finished: lifetime.finished.then(() => {
      server.close();
      removeSocket(dir);
    }),
    finishWhenIdle: () => lifetime.finishWhenIdle(),
  };
}

function listen(server: Server, path: string): Promise<void> {
  // Ours to remove: whoever made it is not alive, or we would not hold the lock.
  rmSync(path, { force: true });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Until the next line nobody else gets at it either: the folder is private.
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
  });
}
