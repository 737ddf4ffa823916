import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** An entry of an archive made for a test: anything can be said, the forbidden included. */
export interface ArchiveEntry {
  name: string;
  /** A file by default. */
  type?: 'file' | 'hardlink' | 'symlink' | 'character' | 'block' | 'directory' | 'fifo';
  /** Another type, by the character in the header. */
  flag?: string;
  content?: string | Buffer;
  link?: string;
  mode?: number;
  uid?: number;
  gid?: number;
  mtime?: number;
  device?: [major: number, minor: number];
  /** Extended headers, as they are. */
  pax?: Record<string, string | Buffer>;
  /** Written to the header instead of the content's real size. */
  size?: number;
}

const FLAGS = { file: '0', hardlink: '1', symlink: '2', character: '3', block: '4', directory: '5', fifo: '6' };
const BLOCK = 512;

export function tarOf(entries: ArchiveEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap((entry) => blocksOf(entry)), Buffer.alloc(2 * BLOCK)]);
}

/** A layer as a registry has it. */
export function gzipLayer(entries: ArchiveEntry[]): { blob: Buffer; digest: string; diffId: string } {
  const tar = tarOf(entries);
  const blob = gzipSync(tar);
  return { blob, digest: digestOf(blob), diffId: digestOf(tar) };
}

export function digestOf(bytes: Buffer | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function blocksOf(entry: ArchiveEntry): Buffer[] {
  const content = Buffer.from(entry.content ?? '');
  const records = { ...entry.pax };
  if (Buffer.byteLength(entry.name) > 100) records.path ??= entry.name;
  const extended = Object.keys(records).length === 0 ? [] : extension(records);
  return [...extended, header(entry, content.length), ...padded(content)];
}

function extension(records: Record<string, string | Buffer>): Buffer[] {
  const body = Buffer.concat(Object.entries(records).map(([name, value]) => record(name, Buffer.from(value))));
  return [header({ name: 'PaxHeader', flag: 'x' }, body.length), ...padded(body)];
}

function record(name: string, value: Buffer): Buffer {
  const rest = name.length + value.length + 3;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length = rest + String(length).length;
  return Buffer.concat([Buffer.from(`${length} ${name}=`), value, Buffer.from('\n')]);
}

function header(entry: ArchiveEntry, length: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, width: number) => block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
  block.write(entry.name.slice(0, 100), 0, 'utf8');
  octal(entry.mode ?? (entry.type === 'directory' ? 0o755 : 0o644), 100, 8);
  octal(entry.uid ?? 0, 108, 8);
  octal(entry.gid ?? 0, 116, 8);
  octal(entry.size ?? length, 124, 12);
  octal(entry.mtime ?? 1_700_000_000, 136, 12);
  block.write(entry.flag ?? FLAGS[entry.type ?? 'file'], 156, 'latin1');
  block.write((entry.link ?? '').slice(0, 100), 157, 'utf8');
  block.write('ustar\x0000', 257, 'latin1');
  octal(entry.device?.[0] ?? 0, 329, 8);
  octal(entry.device?.[1] ?? 0, 337, 8);
  block.fill(' ', 148, 156);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

function padded(content: Buffer): Buffer[] {
  return [content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}
