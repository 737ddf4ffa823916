import { type FileSystem, hasCode, readWhole, removeIfThere } from '../files/file-system.ts';
import { StoreError } from '../store.ts';
import type { ProcessIdentity, ProcessTable } from '../../../lib/process-table.ts';

export const LOCK_FILE = 'lock';
const TAKEOVER_FILE = 'lock.takeover';

export interface LockOptions {
  fileSystem: FileSystem;
  directory: string;
  processes: ProcessTable;
  /** Where the owner can be reached; told to whoever finds the lock held. */
  address?: string;
  /** Wall clock, in milliseconds. */
  now: () => number;
  randomBytes: (size: number) => Buffer;
}

interface LockHolder extends ProcessIdentity {
  address?: string;
  since: string;
}

/**
 * Takes the directory for this process. A lock appears under its name with its content (a link to a finished file), so one that
 * cannot be read was left by a power cut. @returns the way to release it. @throws StoreError `Locked`
 */
export async function acquireLock(options: LockOptions): Promise<() => Promise<void>> {
  const { fileSystem, directory, processes } = options;
  const path = `${directory}/${LOCK_FILE}`;
  const content = describe(options);
  const own = `${directory}/${LOCK_FILE}.${processes.self.pid}-${options.randomBytes(6).toString('hex')}`;
  await writeFile(fileSystem, own, content);
  try {
    if (!(await tryLink(fileSystem, own, path))) await takeOver(options, own, path);
    const written = await readWhole(fileSystem, path);
    if (!written?.equals(content)) throw locked(directory, parseHolder(written));
  } finally {
    await removeIfThere(fileSystem, own);
  }
  return () => release(fileSystem, path, content);
}

/** Of several processes that find the same dead lock, the one that gets the second name replaces it. */
async function takeOver(options: LockOptions, own: string, path: string): Promise<void> {
  const { fileSystem, directory } = options;
  await assertAbandoned(options, path);
  const takeover = `${directory}/${TAKEOVER_FILE}`;
  if (!(await tryLink(fileSystem, own, takeover))) {
    await assertAbandoned(options, takeover);
    await removeIfThere(fileSystem, takeover);
    if (!(await tryLink(fileSystem, own, takeover))) throw locked(directory, parseHolder(await readWhole(fileSystem, takeover)));
  }
  try {
    await assertAbandoned(options, path);
    await removeIfThere(fileSystem, path);
    if (!(await tryLink(fileSystem, own, path))) throw locked(directory, parseHolder(await readWhole(fileSystem, path)));
  } finally {
    await removeIfThere(fileSystem, takeover);
  }
}

async function assertAbandoned({ fileSystem, directory, processes }: LockOptions, path: string): Promise<void> {
  const holder = parseHolder(await readWhole(fileSystem, path));
  if (!holder) return;
  // Whether a process of another machine lives cannot be seen from here.
  const elsewhere = holder.hostname !== processes.self.hostname;
  if (elsewhere || processes.isAlive(holder)) throw locked(directory, holder, elsewhere);
}

async function release(fileSystem: FileSystem, path: string, content: Buffer): Promise<void> {
  const held = await readWhole(fileSystem, path);
  if (held?.equals(content)) await removeIfThere(fileSystem, path);
}

function describe({ processes, address, now }: LockOptions): Buffer {
  const holder: LockHolder = { ...processes.self, address, since: new Date(now()).toISOString() };
  return Buffer.from(`${JSON.stringify(holder)}\n`);
}

function parseHolder(content: Buffer | undefined): LockHolder | undefined {
  try {
    const holder = JSON.parse(content?.toString() ?? '') as LockHolder;
    return Number.isInteger(holder.pid) && holder.pid > 0 ? holder : undefined;
  } catch {
    return undefined;
  }
}

function locked(directory: string, holder: LockHolder | undefined, elsewhere = false): StoreError {
  if (!holder) return new StoreError('Locked', `Cannot open the store in "${directory}": another process is taking it; try again`);
  const place = elsewhere ? ` on host ${holder.hostname}` : '';
  const reach = holder.address ? `, serving ${holder.address}` : '';
  const advice = elsewhere
    ? `stop it there, or remove ${directory}/${LOCK_FILE} if that host is gone`
    : 'use that one, stop it, or choose another directory';
  return new StoreError(
    'Locked',
    `Cannot open the store in "${directory}": process ${holder.pid}${place} holds it since ${holder.since}${reach}; ${advice}`,
  );
}

async function tryLink(fileSystem: FileSystem, existing: string, added: string): Promise<boolean> {
  try {
    await fileSystem.link(existing, added);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function writeFile(fileSystem: FileSystem, path: string, content: Buffer): Promise<void> {
  const file = await fileSystem.open(path, 'create');
  try {
    await file.write([content], 0);
  } finally {
    await file.close();
  }
}
