import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArtifactStoreError, type ArtifactContent } from '../../../src/areas/runs/artifacts/artifact-store.ts';
import { filesystemStore } from '../../../src/areas/runs/artifacts/filesystem-store.ts';
import { s3Store, type S3StoreOptions } from '../../../src/areas/runs/artifacts/s3/s3-store.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { artifactStoreSuite } from '../../conformance/runs/artifact-store.suite.ts';
import { S3Server } from '../../support/s3-server.ts';

artifactStoreSuite('a volume', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-volume-'));
  return { store: filesystemStore(root, 'claim'), stop: async () => rmSync(root, { recursive: true }) };
});

function storeOn(server: S3Server, more: Partial<S3StoreOptions> = {}) {
  const { bucket, region, endpoint } = server;
  const partSize = 5 << 20;
  return s3Store({
    bucket,
    region,
    endpoint,
    pathStyle: true,
    partSize,
    credentials: async () => server.credentials,
    clock: realClock,
    ...more,
  });
}

artifactStoreSuite('a bucket', async () => {
  const server = await S3Server.start();
  return { store: storeOn(server, { prefix: '/some/prefix/' }), stop: () => server.stop() };
});

describe('a volume', () => {
  it('may be used by others of its group', async () => {
    const root = mkdtempSync(join(tmpdir(), 'tenantry-volume-'));
    const path = join(root, 'source');
    writeFileSync(path, 'x');
    const content = { name: 'a', type: 'file', path, sizeBytes: 1, digest: sha256Of('x'), contentType: 'text/plain' } as const;
    const run = { namespace: 'ns', uid: 'u', runName: 'r', runtime: 'bash' };
    await filesystemStore(root).put(run, content, new AbortController().signal);
    for (const folder of ['namespaces', 'namespaces/ns', 'namespaces/ns/runs', 'namespaces/ns/runs/u']) {
      expect(statSync(join(root, folder)).mode & 0o7777).toBe(0o2775);
    }
    rmSync(root, { recursive: true });
  });
});

describe('a bucket', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-bucket-'));
  const path = join(folder, 'large');
  const run = { namespace: 'ns', uid: 'u', runName: 'r', runtime: 'bash' };
  const never = new AbortController().signal;
  const large: ArtifactContent = {
    name: 'large',
    type: 'directory',
    path,
    sizeBytes: 11 << 20,
    digest: 'sha256:x',
    contentType: 'application/gzip',
  };
  let server: S3Server;
  beforeAll(async () => {
    writeFileSync(path, Buffer.alloc(large.sizeBytes, 'x'));
    server = await S3Server.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('gets large artifacts in parts, with the facts of the original beside them', async () => {
    await storeOn(server).put(run, large, never);
    expect(server.requests.filter((request) => request.includes('partNumber'))).toHaveLength(3);
    expect(server.objects.get('namespaces/ns/runs/u/large')?.headers).toMatchObject({
      'content-type': 'application/gzip',
      'x-amz-meta-kruntimes-run-name': 'r',
      'x-amz-meta-kruntimes-run-uid': 'u',
      'x-amz-meta-kruntimes-namespace': 'ns',
      'x-amz-meta-kruntimes-runtime': 'bash',
      'x-amz-meta-kruntimes-artifact-name': 'large',
      'x-amz-meta-kruntimes-artifact-type': 'directory',
    });
  });

  it('keeps no parts of an upload that failed', async () => {
    server.refuse = (_method, _key, query) => (query.get('partNumber') === '2' ? { status: 403, code: 'AccessDenied' } : undefined);
    await expect(storeOn(server).put(run, { ...large, name: 'half' }, never)).rejects.toThrow(ArtifactStoreError);
    server.refuse = undefined;
    expect(server.uploads.size).toBe(0);
    expect(server.objects.has('namespaces/ns/runs/u/half')).toBe(false);
  });

  it('that is busy for a moment is asked again', async () => {
    let busy = 2;
    server.refuse = (method) => (method === 'PUT' && busy-- > 0 ? { status: 503, code: 'SlowDown' } : undefined);
    await storeOn(server, { partSize: 64 << 20 }).put(
      { ...run, uid: 'busy' },
      { ...large, digest: sha256Of('x'.repeat(large.sizeBytes)) },
      never,
    );
    server.refuse = undefined;
    expect(server.objects.has('namespaces/ns/runs/busy/large')).toBe(true);
  });

  it('refuses the wrong key once and for all, in words that help', async () => {
    const credentials = async () => ({ ...server.credentials, secretAccessKey: 'wrong' });
    const before = server.requests.length;
    await expect(storeOn(server, { credentials }).remove(run, 'x')).rejects.toThrow(
      'bucket "artifacts": SignatureDoesNotMatch: told by the test',
    );
    expect(server.requests.length).toBe(before);
  });

  it('that is gone has nothing to clean up', async () => {
    await storeOn(server, { bucket: 'gone' }).removeAll(run);
  });

  it('forgets the uploads of a runtimed that was killed', async () => {
    server.uploads.set('left', { key: 'namespaces/ns/runs/u/left', headers: {}, parts: new Map() });
    server.uploads.set('other', { key: 'namespaces/ns/runs/u2/left', headers: {}, parts: new Map() });
    await storeOn(server).removeAll(run);
    expect([...server.uploads.keys()]).toEqual(['other']);
  });
});

function sha256Of(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
