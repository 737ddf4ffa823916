import { existsSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { EtcdMember } from './etcd-member.ts';
import { storeSnapshot, unpackStore, useUnpacked } from './etcd-snapshot.ts';
import { quotaArgument } from './model/program-arguments.ts';
import type { StorePlan } from './model/program-plan.ts';
import { etcdArguments, STORE_FOLDER, storeChange, type StoreMember } from './model/store-members.ts';
import { KeeperError, type RunningProgram } from './program-keeper.ts';
import { startProgram } from './start-program.ts';

const START_MS = 60_000;
const LOOK_EVERY_MS = 50;
/** More than any store here may have: it only has to be read. */
const READ_BYTES = 8 * 1024 ** 3;
/** In a store that has served: etcd begins an empty one wherever it finds none. */
const SERVED = `${STORE_FOLDER}/served`;

/**
 * Makes the store on the disk one of as many members as are wanted, while none of them runs: out of a snapshot of those that there are. All of
 * it is kept, revisions too, so that nobody who watches notices. A crash in the middle leaves the store as it was.
 */
export async function ensureShape({ members, etcd, etcdutl }: StorePlan, withParent: readonly string[], clock: Clock): Promise<void> {
  const change = storeChange(members, hasLog, existsSync(SERVED));
  if (change === 'none') return;
  if (change === 'lost') throw new KeeperError('most of its store is gone, and no empty one is begun in its place; restore a backup');
  const there = change.from.filter(({ folder }) => hasLog(folder));
  const running = there.map((member) => startMember(member, change.from, etcd, withParent));
  try {
    const sockets = there.map(({ clientSocket }) => clientSocket);
    await untilAgreed(sockets, running, clock);
    await unpackStore(storeSnapshot(sockets), etcdutl, members);
  } finally {
    for (const { signal } of running) signal('SIGTERM');
    await Promise.all(running.map(({ ended }) => ended));
  }
  await useUnpacked();
}

/** It serves: from now on it is not to be empty. */
export async function setServed(): Promise<void> {
  // Without room it is for the next time.
  if (!existsSync(SERVED)) await writeFile(SERVED, '', { mode: 0o600 }).catch(() => {});
}

/** A member that was started on nothing while the others ran was refused by them, and has folders without it. */
function hasLog(folder: string): boolean {
  return existsSync(`${folder}/member/wal`);
}

function startMember(member: StoreMember, all: readonly StoreMember[], path: string, withParent: readonly string[]): RunningProgram {
  rmSync(member.clientSocket, { force: true });
  const args = [...etcdArguments(member, all), quotaArgument(READ_BYTES)];
  return startProgram({ name: 'etcd', path, args, afterReady: false, readsKeysOnce: false }, withParent);
}

async function untilAgreed(sockets: readonly string[], running: readonly RunningProgram[], clock: Clock): Promise<void> {
  let ended: string | undefined;
  for (const program of running) void program.ended.then((words) => (ended = words));
  const deadline = clock.monotonic() + START_MS;
  for (;;) {
    const answers = await Promise.allSettled(sockets.map((socket) => new EtcdMember(socket).catchUp()));
    if (answers.some(({ status }) => status === 'fulfilled')) return;
    if (ended !== undefined) throw new KeeperError(`etcd ended while its store was read: ${ended.slice(-300)}`);
    if (clock.monotonic() > deadline) throw new KeeperError(`etcd did not answer in ${START_MS / 1000} s when its store was to be read`);
    await sleep(clock, LOOK_EVERY_MS);
  }
}
