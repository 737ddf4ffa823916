import * as fs from 'node:fs';
import { promisify } from 'node:util';
import type { FileSystem, OpenFile } from './file-system.ts';

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_DSYNC } = fs.constants;
/** Where the system has it, each write of a log returns when it is on disk: one trip to the thread pool for a commit, not two. */
const SYNCED = O_DSYNC ?? 0;
const FLAGS = {
  read: O_RDONLY,
  create: O_RDWR | O_CREAT | O_EXCL,
  createLog: O_RDWR | O_CREAT | O_EXCL | SYNCED,
  appendLog: O_RDWR | SYNCED,
};
const openDescriptor = promisify(fs.open);
const closeDescriptor = promisify(fs.close);
const statDescriptor = promisify(fs.fstat);
const truncateDescriptor = promisify(fs.ftruncate);
const syncDescriptor = promisify(fs.fsync);

/** The file system of the machine, through descriptors and callbacks: file handles cost a promise and an object more per call. */
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

  read(buffers: readonly Uint8Array[], position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const next = (rest: readonly Uint8Array[], at: number): void =>
        fs.readv(this.#descriptor, rest as Uint8Array[], at, (error, count) => {
          if (error) return reject(error);
          const unread = dropFirst(rest, count);
          if (count === 0 || unread.length === 0) return resolve(at + count - position);
          next(unread, at + count);
        });
      next(buffers, position);
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

  async writeDurably(buffers: readonly Uint8Array[], position: number): Promise<void> {
    await this.write(buffers, position);
    if (SYNCED === 0) await this.datasync();
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
