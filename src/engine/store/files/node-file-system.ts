import * as fs from 'node:fs';
import { promisify } from 'node:util';
import type { FileSystem, OpenFile } from './file-system.ts';

const FLAGS = { create: 'wx+', write: 'r+', read: 'r' };
const openDescriptor = promisify(fs.open);
const closeDescriptor = promisify(fs.close);
const statDescriptor = promisify(fs.fstat);
const truncateDescriptor = promisify(fs.ftruncate);
const syncDescriptor = promisify(fs.fsync);

/** The file system of the machine. Descriptors and callbacks instead of file handles: a commit is two calls on the thread pool. */
export const nodeFileSystem: FileSystem = {
  async makeDirectory(path) {
    await fs.promises.mkdir(path, { recursive: true, mode: 0o700 });
  },
  list: (directory) => fs.promises.readdir(directory),
  async open(path, mode) {
    return new NodeFile(await openDescriptor(path, FLAGS[mode], 0o600));
  },
  rename: (from, to) => fs.promises.rename(from, to),
  link: (existing, added) => fs.promises.link(existing, added),
  remove: (path) => fs.promises.unlink(path),
  async syncDirectory(path) {
    // Windows cannot open a directory, and its file systems journal names themselves.
    if (process.platform === 'win32') return;
    const descriptor = await openDescriptor(path, 'r');
    try {
      await syncDescriptor(descriptor);
    } finally {
      await closeDescriptor(descriptor);
    }
  },
};

class NodeFile implements OpenFile {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  async size(): Promise<number> {
    return (await statDescriptor(this.#descriptor)).size;
  }

  read(into: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      let total = 0;
      const next = (): void =>
        fs.read(this.#descriptor, into, offset + total, length - total, position + total, (error, count) => {
          if (error) return reject(error);
          total += count;
          if (count === 0 || total === length) return resolve(total);
          next();
        });
      next();
    });
  }

  write(buffers: readonly Uint8Array[], position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (rest: readonly Uint8Array[], at: number): void =>
        fs.writev(this.#descriptor, rest, at, (error, written) => {
          if (error) return reject(error);
          const unwritten = dropFirst(rest, written);
          if (unwritten.length === 0) return resolve();
          // A full disk takes what fits and refuses the next call.
          next(unwritten, at + written);
        });
      next(buffers, position);
    });
  }

  truncate(length: number): Promise<void> {
    return truncateDescriptor(this.#descriptor, length);
  }

  datasync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fs.fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    return closeDescriptor(this.#descriptor);
  }
}

function dropFirst(buffers: readonly Uint8Array[], length: number): readonly Uint8Array[] {
  let skipped = 0;
  for (let i = 0; i < buffers.length; i++) {
    const buffer = buffers[i];
    if (skipped + buffer.length > length) return [buffer.subarray(length - skipped), ...buffers.slice(i + 1)];
    skipped += buffer.length;
  }
  return [];
}
