import { createHash } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ArtifactStoreDriver } from './artifact-store.ts';
import { openPlain } from './folder-archive.ts';
import { artifactKey, runPrefix } from './model/artifact-keys.ts';

/** Artifacts as files of a volume. A file is there as a whole or not at all. */
export function filesystemStore(root: string, volumeClaimName?: string): ArtifactStoreDriver {
  return {
    async put(origin, content, signal) {
      const path = artifactKey(origin, content.name);
      const target = join(root, path);
      const partial = `${target.slice(0, -content.name.length)}.partial-${createHash('sha256').update(content.name).digest('hex').slice(0, 16)}`;
      await makeFolders(root, runPrefix(origin));
      const source = await openPlain(content.path, content.name);
      const hash = createHash('sha256');
      const measure = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      try {
        await pipeline(source.createReadStream(), measure, createWriteStream(partial, { flush: true }), { signal });
        if (`sha256:${hash.digest('hex')}` !== content.digest) throw new Error(`artifact "${content.name}" changed while it was stored`);
        await rename(partial, target);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      return { filesystem: { path, ...(volumeClaimName === undefined ? {} : { volumeClaimName }) } };
    },
    async open(run, name) {
      try {
        const file = await open(join(root, artifactKey(run, name)), constants.O_RDONLY | constants.O_NOFOLLOW);
        return file.createReadStream();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    remove: (run, name) => rm(join(root, artifactKey(run, name)), { force: true }),
    removeAll: (run) => rm(join(root, runPrefix(run)), { recursive: true, force: true }),
  };
}

/** For the group too: the Pods that share a volume, the maintainer among them, need not be the same user everywhere. */
async function makeFolders(root: string, path: string): Promise<void> {
  let at = root;
  for (const name of path.split('/').filter((part) => part !== '')) {
    at = join(at, name);
    try {
      await mkdir(at);
      await chmod(at, 0o2775);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
