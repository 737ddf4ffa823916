import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Clock } from '../../../../lib/clock.ts';
import type { Descriptor } from '../../../../lib/oci/manifest.ts';
import { RegistryError } from '../../../../lib/oci/registry-error.ts';
import type { RegistrySession } from '../../../../lib/oci/registry-session.ts';
import { retrying, type RetryPolicy } from '../../../../lib/oci/retry.ts';

export interface DownloadOptions {
  session: RegistrySession;
  clock: Clock;
  retries: RetryPolicy;
  signal: AbortSignal;
}

/**
 * Fetches a blob into a new file, verified byte for byte against its digest. A connection that breaks is resumed where it broke. The
 * caller removes the file when this fails.
 */
export async function downloadBlob(blob: Descriptor, path: string, options: DownloadOptions): Promise<void> {
  const { session, signal } = options;
  const file = await open(path, 'wx', 0o600);
  let hash = createHash('sha256');
  let offset = 0;
  let before = 0;
  const once = async (): Promise<void> => {
    before = offset;
    const { answer, resumed } = await session.blob(blob.digest, offset, signal);
    if (!resumed) {
      await file.truncate(0);
      hash = createHash('sha256');
      offset = 0;
    }
    try {
      for await (const chunk of answer.chunks) {
        if (offset + chunk.length > blob.size)
          throw new RegistryError(`${session.host} sent more than the ${blob.size} bytes of ${blob.digest}`);
        hash.update(chunk);
        await file.write(chunk, 0, chunk.length, offset);
        offset += chunk.length;
      }
    } finally {
      answer.discard();
    }
    if (offset < blob.size)
      throw new RegistryError(`${session.host} sent ${offset} of the ${blob.size} bytes of ${blob.digest}`, { retry: 'yes' });
  };
  try {
    await retrying(once, () => offset > before, options.retries, options.clock, signal);
  } finally {
    await file.close();
  }
  const digest = `sha256:${hash.digest('hex')}`;
  if (digest !== blob.digest) {
    throw new RegistryError(
      `${session.host} sent content with the digest ${digest} instead of ${blob.digest}; it was changed on its way or in the registry`,
    );
  }
}
