import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiResponse } from '../engine/apiserver/chain/request.ts';
import { restoreStore, type Restored } from '../engine/store/restore.ts';
import type { Store } from '../engine/store/store.ts';

/**
 * A backup is one file that can bring an instance back whole: the keys (without them Secrets cannot be read and no credential is
 * valid), then the store's own stream. Layout: magic, length of the key section as 8 hex digits, the keys as JSON, the stream.
 */
const MAGIC = 'tenantry-backup-1\n';
const LENGTH_DIGITS = 8;

export function backupAnswer(store: Store, keyFolder: string): ApiResponse {
  return {
    status: 200,
    body: {
      kind: 'list',
      list: {
        contentType: 'application/octet-stream',
        chunks: () => archive(store, keyFolder),
        value: () => Promise.reject(new Error('Cannot give a backup as an object: read it from a socket')),
      },
    },
  };
}

/** The backup, piece by piece. */
export async function* archive(store: Pick<Store, 'backup'>, keyFolder: string): AsyncGenerator<Uint8Array> {
  const keys: Record<string, string> = {};
  for (const name of await readdir(keyFolder)) keys[name] = (await readFile(join(keyFolder, name))).toString('base64');
  const section = Buffer.from(JSON.stringify(keys));
  yield Buffer.concat([Buffer.from(MAGIC + section.length.toString(16).padStart(LENGTH_DIGITS, '0')), section]);
  yield* store.backup();
}

/**
 * Fills `data` from a backup: the keys first, so that a restore that was cut off leaves nothing a start would take for an instance,
 * and can simply be repeated.
 */
export async function restoreArchive(data: string, backup: AsyncIterable<Uint8Array>): Promise<Restored> {
  const store = join(data, 'store');
  if ((await readdir(store).catch(() => [])).length > 0) {
    throw new Error(`Cannot restore into "${data}": it is not empty, an instance is there already; name another directory`);
  }
  const parts = backup[Symbol.asyncIterator]();
  const { keys, rest } = await readHead(parts);
  const folder = join(data, 'pki');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(keys)) {
    if (!/^[\w.-]+$/.test(name)) throw new Error(`Cannot restore the key "${name}": it is no file name; the backup is damaged`);
    await writeFile(join(folder, name), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
  return restoreStore(store, follow(rest, parts));
}

async function readHead(parts: AsyncIterator<Uint8Array>): Promise<{ keys: Record<string, string>; rest: Uint8Array }> {
  const prefix = MAGIC.length + LENGTH_DIGITS;
  let head = Buffer.alloc(0);
  const need = async (size: number) => {
    while (head.length < size) {
      const { done, value } = await parts.next();
      if (done === true) throw new Error('Cannot restore: the file ends before its keys do; it is no complete backup');
      head = Buffer.concat([head, value]);
    }
  };
  await need(prefix);
  if (head.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new Error('Cannot restore: the file was not made by `tenantry backup`, or by a newer release; name another file');
  }
  const length = Number.parseInt(head.toString('latin1', MAGIC.length, prefix), 16);
  await need(prefix + length);
  return { keys: JSON.parse(head.toString('utf8', prefix, prefix + length)), rest: head.subarray(prefix + length) };
}

async function* follow(first: Uint8Array, parts: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) yield next.value;
}
