import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { findProgram } from './system-files.ts';

/** How distributions pack the kernel inside of its file, and who unpacks it. */
const PACKINGS = [
  { magic: Buffer.from('02214c18', 'hex'), program: 'lz4', args: ['-d', '-c'] },
  { magic: Buffer.from('28b52ffd', 'hex'), program: 'zstd', args: ['-d', '-c'] },
] as const;
const ELF = Buffer.from('\x7fELF', 'latin1');
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Writes the kernel as it is in memory, which an emulator starts at once: unpacking is work that it does ten times slower than we do, for every
 * guest. @returns false when there is nobody to unpack it; the packed one works too
 */
export async function writePlainKernel(packed: string, to: string): Promise<boolean> {
  const bytes = await readFile(packed);
  for (const { magic, program, args } of PACKINGS) {
    const start = bytes.indexOf(magic);
    const unpacker = start < 0 ? undefined : await findProgram(program);
    if (unpacker === undefined) continue;
    const plain = await unpack(unpacker, args, bytes.subarray(start));
    if (!plain.subarray(0, ELF.length).equals(ELF)) continue;
    await writeFile(to, plain, { mode: 0o644 });
    return true;
  }
  await rm(to, { force: true });
  return false;
}

/** It may complain about what follows the kernel in the file: what counts is what it wrote. */
function unpack(program: string, args: readonly string[], bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { encoding: 'buffer', maxBuffer: MAX_BYTES }, (_error, stdout) => resolve(stdout));
    child.stdin!.on('error', () => {});
    child.stdin!.end(bytes);
  });
}
