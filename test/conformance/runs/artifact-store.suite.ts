import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactContent, ArtifactStoreDriver } from '../../../src/areas/runs/artifacts/artifact-store.ts';

export interface StoreUnderTest {
  store: ArtifactStoreDriver;
  stop(): Promise<void>;
}

/** What every place for artifacts does. */
export function artifactStoreSuite(name: string, start: () => Promise<StoreUnderTest>): void {
  describe(`artifacts in ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-store-'));
    const never = new AbortController().signal;
    const run = { namespace: 'ns', uid: 'uid-1', runName: 'r', runtime: 'bash' };
    let target: StoreUnderTest;
    beforeAll(async () => {
      target = await start();
    });
    afterAll(async () => {
      await target?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const aFile = (artifact: string, bytes: Buffer): ArtifactContent => {
      const path = join(folder, createHash('md5').update(artifact).digest('hex'));
      writeFileSync(path, bytes);
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      return { name: artifact, type: 'file', path, sizeBytes: bytes.length, digest, contentType: 'application/octet-stream' };
    };
    const read = async (uid: string, artifact: string): Promise<Buffer | undefined> => {
      const stream = await target.store.open({ namespace: 'ns', uid }, artifact, never);
      if (stream === undefined) return undefined;
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    };

    it.each([
      ['empty', Buffer.alloc(0)],
      ['small.txt', Buffer.from('hello\n')],
      ['with space & "quotes" + (more)!.bin', Buffer.from([0, 255, 10])],
      ['Größe-日本.txt', Buffer.from('x')],
      ['several-parts', Buffer.alloc((11 << 20) + 7, 'abcdefgh')],
    ])('come back as they went: %s', async (artifact, bytes) => {
      await target.store.put(run, aFile(artifact, bytes), never);
      const back = await read('uid-1', artifact);
      expect(back?.equals(bytes)).toBe(true);
    });

    it('are where the original has them', async () => {
      const location = await target.store.put(run, aFile('where', Buffer.from('x')), never);
      const path = location.filesystem?.path ?? location.s3?.key;
      expect(path).toMatch(/(^|\/)namespaces\/ns\/runs\/uid-1\/where$/);
    });

    it('put again replace those before', async () => {
      await target.store.put(run, aFile('twice', Buffer.from('one')), never);
      await target.store.put(run, aFile('twice', Buffer.from('two')), never);
      expect((await read('uid-1', 'twice'))?.toString()).toBe('two');
    });

    it('that are not there are not there, and removing them is no error', async () => {
      expect(await read('uid-1', 'nothing')).toBeUndefined();
      await target.store.remove(run, 'nothing');
      await target.store.removeAll({ namespace: 'ns', uid: 'unknown' });
    });

    it('that change while they are stored are refused', async () => {
      const content = aFile('changing', Buffer.from('before'));
      writeFileSync(content.path, 'after!');
      await expect(target.store.put(run, content, never)).rejects.toThrow();
      expect(await read('uid-1', 'changing')).toBeUndefined();
    });

    it('are not stored after a cancellation', async () => {
      await expect(target.store.put(run, aFile('cancelled', Buffer.from('x')), AbortSignal.abort())).rejects.toThrow();
      expect(await read('uid-1', 'cancelled')).toBeUndefined();
    });

    it('of one Run go without those of another', async () => {
      await target.store.put({ ...run, uid: 'uid-10' }, aFile('other', Buffer.from('stays')), never);
      await target.store.remove(run, 'twice');
      expect(await read('uid-1', 'twice')).toBeUndefined();
      await target.store.removeAll(run);
      expect(await read('uid-1', 'small.txt')).toBeUndefined();
      expect((await read('uid-10', 'other'))?.toString()).toBe('stays');
    });
  });
}
