import { spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { LayerError } from './layer-writer.ts';

const CHUNK = 256 * 1024;
const PATH = '/usr/local/bin:/usr/bin:/bin';

type Consume = (chunks: AsyncIterable<Buffer>) => Promise<void>;

/** Reads a file, decompressed if it is compressed. What it is shows in its first bytes; media types are often wrong. */
export async function readPlain(path: string, take: (chunk: Buffer) => void): Promise<void> {
  let failure: unknown;
  const consume: Consume = async (chunks) => {
    try {
      for await (const chunk of chunks) take(chunk);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    await decompress(path, consume);
  } catch (error) {
    // A pipeline sometimes tells of the streams that it had to abort instead of the reason.
    throw failure ?? error;
  }
}

async function decompress(path: string, consume: Consume): Promise<void> {
  const start = firstBytes(path);
  const file = () => createReadStream(path, { highWaterMark: CHUNK });
  if (start[0] === 0x1f && start[1] === 0x8b) return pipeline(file(), zlib.createGunzip({ chunkSize: CHUNK }), consume);
  if (start.length < 4 || start.readUInt32LE() !== 0xfd2fb528) return pipeline(file(), consume);
  const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: object) => Transform };
  if (createZstdDecompress !== undefined) return pipeline(file(), createZstdDecompress({ chunkSize: CHUNK }), consume);
  return zstdProgram(path, consume);
}

/** For Node before 22.15, which knows no zstd: the machine may have the program. */
async function zstdProgram(path: string, consume: Consume): Promise<void> {
  const child = spawn('zstd', ['--decompress', '--stdout', '--quiet', path], { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-200)));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (cause) =>
      reject(
        new LayerError(
          `it is compressed with zstd, which Node ${process.versions.node} cannot read; install the program zstd, use Node 22.15 or newer, or an image with gzip layers`,
          { cause },
        ),
      ),
    );
  });
  // Heard below; a program that cannot be started fails before its output does.
  ended.catch(() => {});
  try {
    await consume(child.stdout as AsyncIterable<Buffer>);
  } catch (error) {
    child.kill();
    throw error;
  }
  if ((await ended) !== 0) throw new LayerError(`its compression is damaged (${complaint.trim()})`);
}

function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(4);
    return start.subarray(0, readSync(file, start, 0, start.length, 0));
  } finally {
    closeSync(file);
  }
}
