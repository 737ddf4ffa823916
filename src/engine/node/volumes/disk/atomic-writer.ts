import { chmod, chown, mkdir, readdir, readFile, readlink, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { errorCode } from './handles.ts';
import { removeTree } from './remove-tree.ts';

export interface FileContent {
  data: Buffer;
  mode: number;
  /** Who owns it; absent: whoever writes it. */
  user?: number;
}

/** Files by their path in the volume. */
export type Payload = ReadonlyMap<string, FileContent>;

const DATA = '..data';
const NEW_DATA = '..data_tmp';
const MAX_PATH_LENGTH = 4096;
const MAX_NAME_LENGTH = 255;

export interface WriteOptions {
  now: number;
  /** Called on the volume before its new content can be seen. */
  setOwner?: () => Promise<void>;
}

/**
 * Brings a volume to a new content in one step, as the kubelet does: the files stand in a folder named after the time, `..data` leads to
 * it, and what containers see are links through `..data`, which is replaced by one rename. A reader sees all of the old or all of the new.
 */
export async function writeAtomically(folder: string, payload: Payload, options: WriteOptions): Promise<void> {
  const files = cleaned(payload);
  const names = await readdir(folder);
  const old = names.includes(DATA) ? await readlink(join(folder, DATA)) : undefined;
  await removeLeftovers(folder, names, old);
  const gone = old === undefined ? [] : await pathsToRemove(join(folder, old), files);
  const changed = old === undefined || gone.length > 0 || (await differs(join(folder, old), files));
  if (changed) await publish(folder, files, options);
  await linkVisible(folder, files);
  // Only what stands at the top is a link of ours; the rest went with the old folder.
  for (const path of gone) if (!path.includes('/')) await unlink(join(folder, path)).catch(ignoreGone);
  if (changed && old !== undefined) await removeTree(join(folder, old));
}

/** @throws Error in Kubernetes' words */
function cleaned(payload: Payload): Map<string, FileContent> {
  const files = new Map<string, FileContent>();
  for (const [path, content] of payload) {
    checkPath(path);
    files.set(normalize(path), content);
  }
  return files;
}

function checkPath(path: string): void {
  if (path === '') throw new Error('invalid path: must not be empty: ""');
  if (path.startsWith('/')) throw new Error(`invalid path: must be relative path: ${path}`);
  if (path.length > MAX_PATH_LENGTH) throw new Error(`invalid path: must be less than or equal to ${MAX_PATH_LENGTH} characters`);
  const parts = path.split('/');
  if (parts.includes('..')) throw new Error(`invalid path: must not contain '..': ${path}`);
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_LENGTH)) {
    throw new Error(`invalid path: filenames must be less than or equal to ${MAX_NAME_LENGTH} characters`);
  }
  if (parts[0].startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`);
}

/** A writer that was killed in the middle leaves a folder that nothing leads to. */
async function removeLeftovers(folder: string, names: string[], current: string | undefined): Promise<void> {
  for (const name of names) {
    if (name === NEW_DATA) await unlink(join(folder, name));
    else if (/^\.\.\d/.test(name) && name !== current) await removeTree(join(folder, name));
  }
}

/** Files and folders of the old content that the new one does not have. */
async function pathsToRemove(old: string, files: Map<string, FileContent>): Promise<string[]> {
  const kept = new Set<string>();
  for (const path of files.keys()) for (let part = path; part !== '.'; part = dirname(part)) kept.add(part);
  const present = await readdir(old, { recursive: true }).catch(ignoreGone);
  return (present ?? []).filter((path) => !kept.has(path));
}

async function differs(old: string, files: Map<string, FileContent>): Promise<boolean> {
  for (const [path, { data }] of files) {
    const present = await readFile(join(old, path)).catch(() => undefined);
    if (!present?.equals(data)) return true;
  }
  return false;
}

async function publish(folder: string, files: Map<string, FileContent>, { now, setOwner }: WriteOptions): Promise<void> {
  const name = await newFolder(folder, now);
  const path = join(folder, name);
  try {
    const subfolders = new Set([...files.keys()].filter((file) => file.includes('/')).map((file) => join(path, dirname(file))));
    for (const subfolder of subfolders) await mkdir(subfolder, { recursive: true });
    // Whatever our umask is, containers under other users must get in.
    await Promise.all([chmod(path, 0o755), ...[...files].map(([file, content]) => writeOne(join(path, file), content))]);
    await setOwner?.();
    await symlink(name, join(folder, NEW_DATA));
    await rename(join(folder, NEW_DATA), join(folder, DATA));
  } catch (error) {
    await removeTree(path).catch(() => {});
    throw error;
  }
}

async function newFolder(folder: string, now: number): Promise<string> {
  const [day, time] = new Date(now).toISOString().split('T');
  const stamp = `..${day.replaceAll('-', '_')}_${time.slice(0, 8).replaceAll(':', '_')}.`;
  for (;;) {
    // Unlike a time of day this never meets itself, whatever the clock does.
    const name = stamp + String(Math.floor(Math.random() * 2 ** 32));
    try {
      await mkdir(join(folder, name));
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      throw error;
    }
    return name;
  }
}

async function writeOne(path: string, { data, mode, user }: FileContent): Promise<void> {
  await writeFile(path, data, { mode: 0o600, flag: 'wx' });
  await chmod(path, mode);
  if (user !== undefined) await chown(path, user, -1);
}

async function linkVisible(folder: string, files: Map<string, FileContent>): Promise<void> {
  const tops = new Set([...files.keys()].map((path) => path.split('/', 1)[0]));
  await Promise.all(
    [...tops].map((top) =>
      symlink(join(DATA, top), join(folder, top)).catch((error: unknown) => {
        // Our link already, or a folder that another volume is mounted on.
        if (errorCode(error) !== 'EEXIST') throw error;
      }),
    ),
  );
}

function ignoreGone(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
