import { once } from 'node:events';
import { access, constants, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { endSandbox, type Sandbox } from './start-sandbox.ts';

/** What this machine, and the container that we may be in, has for a sandbox. */
export interface SandboxTools {
  bwrap: string;
  /** Present when we can become other users: each Run is one of its own. */
  users?: { setpriv: string; first: number; count: number };
}

const PROBE_MS = 10_000;
/** Users that a server gives to Runs, one after the other. */
const USERS = 1024;
/** Above what distributions and container tools give out, below the users of Pods. */
const FIRST_USER = 0x6000_0000;
const RANGES = 1 << 14;
/** Where a container has only some users. */
const FIRST_OF_FEW = 30_000;

/** @returns the reason when something that is needed is not there */
export async function findSandboxTools(path: string, random: () => number = Math.random): Promise<SandboxTools | { missing: string }> {
  const [bwrap, setpriv] = await Promise.all([find('bwrap', path), find('setpriv', path)]);
  if (bwrap === undefined) return { missing: 'bubblewrap is not installed; install it (bwrap)' };
  if (!isPrivileged(await readFile('/proc/self/status', 'utf8').catch(() => ''))) return { bwrap };
  if (setpriv === undefined) return { missing: 'setpriv is not installed; install util-linux' };
  const map = await readFile('/proc/self/uid_map', 'utf8').catch(() => '');
  const first = hasAllUsers(map) ? FIRST_USER + Math.floor(random() * RANGES) * USERS : FIRST_OF_FEW;
  return { bwrap, users: { setpriv, first, count: USERS } };
}

/** CAP_SETGID, CAP_SETUID, CAP_SETPCAP and CAP_SYS_ADMIN. Root without them is nobody. */
const NEEDED = [6n, 7n, 8n, 21n].reduce((mask, bit) => mask | (1n << bit), 0n);

export function isPrivileged(status: string): boolean {
  const [, mask = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return (BigInt(`0x${mask}`) & NEEDED) === NEEDED;
}

export function hasAllUsers(uidMap: string): boolean {
  const [, , count] = uidMap.trim().split(/\s+/).map(Number);
  return (count ?? 0) > FIRST_USER + RANGES * USERS;
}

/** Lets what is in a sandbox go on, to its end. @returns what it complains of when it does not succeed */
export async function tryOut(sandbox: Sandbox, clock: Clock): Promise<string | undefined> {
  const { child, emptied } = sandbox;
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stdout.resume();
  const timer = clock.setTimer(PROBE_MS, () => void endSandbox(sandbox));
  // Nothing else may be left to wait for when its output has ended and it has not.
  timer.hold?.();
  try {
    const closed = once(child, 'close') as Promise<[code: number | null]>;
    child.tell('');
    const [code] = await closed;
    await emptied;
    return code === 0 ? undefined : text.trim().split('\n')[0] || `exit status ${code}`;
  } finally {
    timer.cancel();
  }
}

async function find(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
