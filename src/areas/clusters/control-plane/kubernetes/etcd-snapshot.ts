import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EtcdMember, withAny } from './etcd-member.ts';
import { inDataFolder, KEYS, memberArguments, STORE_FOLDER, storeMembers } from './model/store-members.ts';

/** The first line of a backup; the rest of it is the snapshot as etcd gives it. */
interface SnapshotHeader {
  format: 'tenantry-etcd-snapshot';
  /** What its Secrets are encrypted with. */
  encryptionKeys: string;
}

const FORMAT = 'tenantry-etcd-snapshot';
const NEWLINE = 0x0a;
const HEADER_LIMIT = 64 * 1024;
const RESTORED = 'restored';
const FORMER = 'store.before-restore';
/** In a store out of a backup that nobody has looked through. etcd does not mind. */
const UNSEEN = 'from-backup';

/** A backup of the control plane in this folder, which runs with a store of so many members. */
export async function* snapshot(members: number): AsyncGenerator<Uint8Array, void, void> {
  const header: SnapshotHeader = { format: FORMAT, encryptionKeys: await readFile(`${KEYS}/encryption.key`, 'utf8') };
  yield Buffer.from(`${JSON.stringify(header)}\n`);
  yield* storeSnapshot(storeMembers(members).map(({ clientSocket }) => clientSocket));
}

/** All that was agreed on when it was asked for, from whichever member answers. */
export async function* storeSnapshot(sockets: readonly string[]): AsyncGenerator<Uint8Array, void, void> {
  const answer = await withAny(sockets, async (socket) => {
    const member = new EtcdMember(socket);
    await member.catchUp();
    return member.snapshot();
  });
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const { result, error } = JSON.parse(text.slice(0, end)) as { result?: { blob?: string }; error?: { message: string } };
      if (error) throw new Error(`Cannot take a snapshot: ${error.message}`);
      text = text.slice(end + 1);
      if (result?.blob) yield Buffer.from(result.blob, 'base64');
    }
  }
}

/**
 * Makes a store beside the present one out of a backup. Revisions go on from a number that grows with time, and earlier ones count as
 * compacted: whoever watches from before is told to list again, after the first restore and after any later one.
 * @returns what its Secrets are encrypted with
 */
export async function unpackSnapshot(archive: Readable, etcdutl: string, now: number): Promise<string> {
  const { header, rest } = await readHeader(archive);
  // Of one member: it becomes one of several when it is started, once it was looked through.
  await unpackStore(rest, etcdutl, 1, ['--bump-revision', String(now), '--mark-compacted']);
  await writeFile(join(RESTORED, UNSEEN), '', { mode: 0o600 });
  return header.encryptionKeys;
}

/** A store of so many members beside the present one. */
export async function unpackStore(
  content: AsyncIterable<Uint8Array>,
  etcdutl: string,
  members: number,
  more: readonly string[] = [],
): Promise<void> {
  await rm(RESTORED, { recursive: true, force: true });
  const file = `${RESTORED}.db`;
  await pipeline(content, createWriteStream(file, { mode: 0o600 }));
  const all = storeMembers(members, RESTORED);
  if (members > 1) await mkdir(RESTORED, { mode: 0o700 });
  for (const member of all) {
    const where = [`--data-dir=${inDataFolder(member.folder)}`, ...memberArguments(member, all)];
    await promisify(execFile)(etcdutl, ['snapshot', 'restore', file, ...where, ...more]);
  }
  await rm(file, { force: true });
}

/** Puts it in the place of the present store. */
export async function useUnpacked(): Promise<void> {
  await rm(FORMER, { recursive: true, force: true });
  await rename(STORE_FOLDER, FORMER).catch(() => {});
  await rename(RESTORED, STORE_FOLDER);
  await rm(FORMER, { recursive: true, force: true });
}

/** A crash between the two renames leaves no store: then the former one is it. */
export async function undoUnfinishedRestore(): Promise<void> {
  await rename(FORMER, STORE_FOLDER).catch(() => {
    // There is none, or a store is there.
  });
  await rm(join('.', `${RESTORED}.db`), { force: true });
}

/** Whether the store came out of a backup, and holds things that must not go on where they were. */
export async function isUnseen(): Promise<boolean> {
  return (await stat(join(STORE_FOLDER, UNSEEN)).catch(() => undefined)) !== undefined;
}

export async function setSeen(): Promise<void> {
  await rm(join(STORE_FOLDER, UNSEEN), { force: true });
}

async function readHeader(archive: Readable): Promise<{ header: SnapshotHeader; rest: AsyncIterable<Uint8Array> }> {
  const chunks = archive[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let start = Buffer.alloc(0);
  while (!start.includes(NEWLINE) && start.length < HEADER_LIMIT) {
    const { done, value } = await chunks.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  const end = start.indexOf(NEWLINE);
  if (end < 0 || !start.subarray(0, end).includes(FORMAT)) throw new Error('Cannot restore: the backup is not one of a Kubernetes store');
  const header = JSON.parse(start.subarray(0, end).toString('utf8')) as SnapshotHeader;
  async function* rest(): AsyncGenerator<Uint8Array, void, void> {
    yield start.subarray(end + 1);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  }
  return { header, rest: rest() };
}
