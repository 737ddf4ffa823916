import { spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { findProgram } from './system-files.ts';

/** How distributions pack the kernel inside of its file, and who unpacks it. */
const PACKINGS = [
  { magic: Buffer.from('02214c18', 'hex'), program: 'lz4', args: ['-d', '-c'] },
  { magic: Buffer.from('28b52ffd', 'hex'), program: 'zstd', args: ['-d', '-c'] },
] as const;
const ELF = Buffer.from('\x7fELF', 'latin1');

/**
 * Writes the kernel as it is in memory, which an emulator starts at once: unpacking is work that it does ten times slower than we do, for every
 * guest. @returns false when there is nobody to unpack it; the packed one works too
 */
export async function writePlainKernel(packed: string, to: string): Promise<boolean> {
  const bytes = await readFile(packed);
  for (const { magic, program, args } of PACKINGS) {
    const start = bytes.indexOf(magic);
    const unpacker = start < 0 ? undefined : await findProgram(program);
    if (unpacker !== undefined && (await unpack(unpacker, args, bytes.subarray(start), to))) return true;
  }
  await rm(to, { force: true });
  return false;
}

/** It may complain about what follows the kernel in the file: what counts is what it wrote. */
async function unpack(program: string, args: readonly string[], bytes: Buffer, to: string): Promise<boolean> {
  const file = await open(to, 'w+', 0o644);
  try {
    const child = spawn(program, args, { stdio: ['pipe', file.fd, 'ignore'] });
    child.stdin!.on('error', () => {});
    child.stdin!.end(bytes);
    await new Promise((resolve, reject) => {
      child.once('close', resolve);
      child.once('error', reject);
    });
    const { buffer } = await file.read(Buffer.alloc(ELF.length), 0, ELF.length, 0);
    return buffer.equals(ELF);
  } finally {
    await file.close();
  }
}
