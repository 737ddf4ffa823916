import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { identityOf, type ProcessIdentity } from '../../../../lib/process-table.ts';
import { FILES, type Backend, type Boot } from './backend.ts';

/** Waits for a word, so that what it becomes is written down before it does anything; without one it ends. */
const WAIT = 'read -r go <&3 || exit 1; exec 3<&-; exec "$@"';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface Launched {
  identity: ProcessIdentity;
  go(): void;
}

/** Starts the program of a machine, which outlives us and waits for `go` first. */
export async function launchMachine(backend: Backend, boot: Boot): Promise<Launched> {
  const { program, args } = await backend.command(boot);
  const output = openOutput(boot.folder);
  try {
    const child = spawn('/bin/sh', ['-c', WAIT, 'sh', program, ...args], {
      cwd: boot.folder,
      detached: true,
      stdio: ['ignore', output, output, 'pipe'],
      env: { PATH, HOME: boot.folder, LC_ALL: 'C' },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    const channel = child.stdio[3] as Writable;
    channel.on('error', () => {});
    return {
      identity: identityOf(child.pid!),
      go() {
        channel.end('go\n');
        child.unref();
      },
    };
  } finally {
    closeSync(output);
  }
}

/** Runs a command that ends with the machine running, and finds out as which process. */
export async function launchDetached(backend: Backend, boot: Boot, pidFile: string): Promise<ProcessIdentity> {
  const { program, args } = await backend.command(boot);
  const output = openOutput(boot.folder);
  try {
    const child = spawn(program, args, {
      cwd: boot.folder,
      detached: true,
      stdio: ['ignore', output, output],
      env: { PATH, HOME: boot.folder, LC_ALL: 'C' },
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('exit', resolve);
      child.once('error', reject);
    });
    if (code !== 0) throw new Error(`its program ended with ${code}: ${said(output)}`);
  } finally {
    closeSync(output);
  }
  return identityOf(Number.parseInt(await readFile(join(boot.folder, pidFile), 'utf8'), 10));
}

/** What is in its output, the end of it. */
function said(output: number): string {
  const buffer = Buffer.alloc(65_536);
  try {
    return buffer.toString('utf8', 0, readSync(output, buffer)).trim().slice(-500);
  } catch {
    return 'it said nothing';
  }
}

/** For reading and writing: there is always a writer while it is open. Without blocking: a machine that talks to nobody goes on. */
function openOutput(folder: string): number {
  return openSync(join(folder, FILES.output), constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
}
