import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectShim } from '../../../src/engine/node/shim/client/connect-shim.ts';
import type { Shim } from '../../../src/engine/node/shim/shim.ts';
import { eventually } from '../../integration/controllers/eventually.ts';
import { builtShim } from './built-shim.ts';

/** A node's folder with a shim of its own, which ends with the test. */
export interface ShimFolder {
  dir: string;
  /** Another client, as another agent would be one. */
  connect(): Promise<Shim>;
  /** The process id of the shim; undefined when none runs. */
  shimPid(): number | undefined;
  /** Kills every program and the shim, and removes the folder. */
  dispose(): Promise<void>;
}

export async function makeShimFolder(): Promise<ShimFolder> {
  const program = await builtShim();
  const dir = await mkdtemp(join(tmpdir(), 'tenantry-node-'));
  const clients: Shim[] = [];
  const connect = async () => {
    const client = await connectShim({ dir, program });
    clients.push(client);
    return client;
  };
  const shimPid = () => shimsOf(dir)[0];
  return {
    dir,
    connect,
    shimPid,
    async dispose() {
      const last = await connect();
      for (const { id, end } of await last.list()) {
        if (end !== undefined) continue;
        await last.signal(id, 'SIGKILL').catch(() => undefined);
        await last.ended(id);
      }
      for (const client of clients) client.close({ endIfIdle: true });
      await eventually(shimPid, (pid) => pid === undefined);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** All shims of a folder: there must never be two. */
export function shimsOf(dir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(`--dir\0${dir}\0`))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
