import type { Stats } from 'node:fs';

const BLOCK = 512;
const LARGEST_IN_HEADER = 0o77777777777;

export interface TarEntry {
  /** Relative, with `/`; those of folders end with it. */
  path: string;
  mode: number;
  sizeBytes: number;
  isFolder: boolean;
}

/**
 * The header blocks of an entry, the same for the same file wherever and whenever it was made: no times, no owners. What does not fit into
 * the old fields goes into an extended header before it (POSIX pax).
 */
export function tarHeader(entry: TarEntry): Buffer {
  const records: string[] = [];
  if (Buffer.byteLength(entry.path) > 100) records.push(paxRecord('path', entry.path));
  if (entry.sizeBytes > LARGEST_IN_HEADER) records.push(paxRecord('size', String(entry.sizeBytes)));
  const header = block(entry.path, entry.mode, entry.sizeBytes, entry.isFolder ? '5' : '0');
  if (records.length === 0) return header;
  const body = Buffer.from(records.join(''));
  return Buffer.concat([block('pax_header', 0o644, body.length, 'x'), body, tarPadding(body.length), header]);
}

/** What comes after the bytes of an entry. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK - (sizeBytes % BLOCK)) % BLOCK);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

export function permissionsOf({ mode }: Stats): number {
  return mode & 0o777;
}

function block(path: string, mode: number, size: number, type: string): Buffer {
  const buffer = Buffer.alloc(BLOCK);
  Buffer.from(path).copy(buffer, 0, 0, 100);
  octal(buffer, 100, 8, mode);
  octal(buffer, 108, 8, 0);
  octal(buffer, 116, 8, 0);
  octal(buffer, 124, 12, Math.min(size, LARGEST_IN_HEADER));
  octal(buffer, 136, 12, 0);
  buffer.fill(' ', 148, 156);
  buffer.write(type, 156);
  buffer.write('ustar\x0000', 257, 'latin1');
  const sum = buffer.reduce((total, byte) => total + byte, 0);
  buffer.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return buffer;
}

function octal(buffer: Buffer, at: number, length: number, value: number): void {
  buffer.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
}

/** Its own length is a part of it. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return `${length}${rest}`;
}
