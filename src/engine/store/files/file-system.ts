/**
 * What the durable driver needs of a file system, and no more: a test puts one in its place that records every write and
 * replays what a power cut could have left of them. Failures are Node's errors with their `code`.
 */
export interface FileSystem {
  makeDirectory(path: string): Promise<void>;
  /** Names in a directory, in no order. */
  list(directory: string): Promise<string[]>;
  /** Creating fails with EEXIST when the file is there. Files are readable by their owner only. */
  open(path: string, mode: 'read' | 'create' | 'createLog' | 'appendLog'): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; fails with EEXIST when the name is taken. */
  link(existing: string, added: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes the names in a directory durable: creations, renames and removals. */
  syncDirectory(path: string): Promise<void>;
}

export interface OpenFile {
  size(): Promise<number>;
  /** Fills `buffers` one after the other and says how many bytes that were; fewer than there is room for only at the end of the file. */
  read(buffers: readonly Uint8Array[], position: number): Promise<number>;
  /** Writes all of `buffers` or rejects; after a rejection any part of them may have been written. */
  write(buffers: readonly Uint8Array[], position: number): Promise<void>;
  /** `write` and `datasync` in one; only of files opened as a log. After a rejection it is not known what is on the disk. */
  writeDurably(buffers: readonly Uint8Array[], position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Makes the content and the length of the file durable. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** A whole small file; undefined when there is none. */
export async function readWhole(fileSystem: FileSystem, path: string): Promise<Buffer | undefined> {
  let file: OpenFile;
  try {
    file = await fileSystem.open(path, 'read');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const content = Buffer.alloc(await file.size());
    const length = await file.read([content], 0);
    return content.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** A whole small file that is either there with all of its content or not at all, power cuts included. */
export async function writeAtomically(fileSystem: FileSystem, directory: string, name: string, content: Uint8Array): Promise<void> {
  const temporary = `${directory}/${name}.tmp`;
  await removeIfThere(fileSystem, temporary);
  const file = await fileSystem.open(temporary, 'create');
  try {
    await file.write([content], 0);
    await file.datasync();
  } finally {
    await file.close();
  }
  await fileSystem.rename(temporary, `${directory}/${name}`);
  await fileSystem.syncDirectory(directory);
}

export async function removeIfThere(fileSystem: FileSystem, path: string): Promise<void> {
  try {
    await fileSystem.remove(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
