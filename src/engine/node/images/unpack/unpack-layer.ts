import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { TarError, TarReader } from '../tar/tar-reader.ts';
import { bytePath } from './layer-files.ts';
import { LayerError, LayerWriter, type LayerLimits } from './layer-writer.ts';
import { LowerLayers } from './lower-layers.ts';
import { readPlain } from './plain-content.ts';
import { specialFiles } from './special-files.ts';

/** One layer, in full: what a thread is told. */
export interface UnpackJob {
  /** The layer as it came: tar, perhaps compressed. */
  blob: string;
  /** A folder that does not exist yet. */
  target: string;
  /** Unpacked layers below, the lowest first. */
  lower: string[];
  /** Digest of the plain tar; absent where nobody said it. */
  diffId?: string;
  limits: LayerLimits;
  keepOwners: boolean;
}

export interface UnpackedLayer {
  bytes: number;
  entries: number;
}

/** Unpacks a layer. What is there after a failure is the caller's to remove. @throws LayerError */
export async function unpackLayer(job: UnpackJob): Promise<UnpackedLayer> {
  mkdirSync(job.target, { mode: 0o700 });
  const writer = new LayerWriter({
    root: bytePath(job.target),
    lower: new LowerLayers(job.lower.map((folder) => bytePath(folder))),
    limits: job.limits,
    keepOwners: job.keepOwners,
    special: specialFiles(),
  });
  const reader = new TarReader(writer);
  const hash = createHash('sha256');
  let plain = 0;
  try {
    await readPlain(job.blob, (chunk) => {
      // Also what follows the archive's end counts, which is never written but costs time.
      plain += chunk.length;
      if (plain > job.limits.bytes) throw new LayerError('it unpacks to more bytes than this node takes for one image');
      hash.update(chunk);
      reader.write(chunk);
    });
    reader.end();
    const digest = `sha256:${hash.digest('hex')}`;
    if (job.diffId !== undefined && digest !== job.diffId)
      throw new LayerError(`its content has the digest ${digest}, the image says ${job.diffId}`);
    writer.finish();
  } catch (error) {
    writer.abandon();
    throw asLayerError(error);
  }
  return { bytes: writer.bytes, entries: writer.entries };
}

function asLayerError(error: unknown): Error {
  if (error instanceof LayerError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof TarError) return new LayerError(message, { cause: error });
  if (code?.startsWith('Z_') === true || code?.startsWith('ZSTD_') === true)
    return new LayerError(`its compression is damaged (${message})`, { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT') return new LayerError('the disk is full; free some space', { cause: error });
  return new LayerError(message, { cause: error });
}
