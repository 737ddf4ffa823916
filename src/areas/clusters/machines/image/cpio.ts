/** One entry of the archive that a kernel unpacks into its first file system. */
export interface CpioEntry {
  path: string;
  mode: number;
  content?: Buffer;
}

const DIRECTORY = 0o040755;
const PROGRAM = 0o100755;
const FILE = 0o100644;
const TRAILER = 'TRAILER!!!';

export function directory(path: string): CpioEntry {
  return { path, mode: DIRECTORY };
}

export function file(path: string, content: Buffer | string, options: { runs?: boolean } = {}): CpioEntry {
  return { path, mode: options.runs === true ? PROGRAM : FILE, content: Buffer.from(content as string) };
}

/** The format `newc`: everything belongs to root and is as old as time. */
export function cpio(entries: readonly CpioEntry[]): Buffer {
  const all = [...entries, { path: TRAILER, mode: 0 }];
  return Buffer.concat(all.flatMap((entry, index) => encode(entry, index + 1)));
}

function encode({ path, mode, content = Buffer.alloc(0) }: CpioEntry, inode: number): Buffer[] {
  const name = Buffer.from(`${path}\0`);
  const isDirectory = (mode & 0o170000) === 0o040000;
  const numbers = [inode, mode, 0, 0, isDirectory ? 2 : 1, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const header = Buffer.from(`070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}`);
  return [header, name, padding(header.length + name.length), content, padding(content.length)];
}

function padding(length: number): Buffer {
  return Buffer.alloc((4 - (length % 4)) % 4);
}
