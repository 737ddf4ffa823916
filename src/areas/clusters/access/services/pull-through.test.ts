import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { realClock } from '../../../../lib/clock.ts';
import { silentLog } from '../../../../lib/log.ts';
import { NO_PROXY } from '../../../../lib/oci/proxy-settings.ts';
import type { RegistryConfig } from '../../../../lib/oci/registry-config.ts';
import { SharedImages } from '../../../../lib/oci/shared-images.ts';
import { BlobCache } from './blob-cache.ts';
import { PullThrough } from './pull-through.ts';

const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const MANIFEST = '{"schemaVersion":2}';
const LAYER = 'x'.repeat(100_000);

describe('PullThrough', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-blobs-'));
  const given = mkdtempSync(join(tmpdir(), 'tenantry-given-'));
  const shared = new SharedImages(given);
  let upstream: Server;
  let here: Server;
  let asked: string[];
  let sent: string;
  let config: (host: string) => RegistryConfig['registries'];
  const hostOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const start = async (): Promise<void> => {
    const cache = new BlobCache(folder, 250_000);
    await cache.open();
    const host = hostOf(upstream);
    const registries = { registries: config(host) };
    const through = new PullThrough({ registries, cache, shared, proxy: NO_PROXY, clock: realClock, log: silentLog });
    here = createServer((request, response) => void through.handle(request, response)).listen(0, '127.0.0.1');
    await once(here, 'listening');
  };
  const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; text: string; digest: string | null }> => {
    const answer = await fetch(`http://${hostOf(here)}/v2/${path}`, init);
    return { status: answer.status, text: await answer.text().catch(() => 'broken'), digest: answer.headers.get('docker-content-digest') };
  };

  beforeEach(async () => {
    asked = [];
    sent = LAYER;
    config = (host) => ({ [host]: { mirrors: [], insecure: true } });
    upstream = createServer((request, response) => {
      asked.push(request.url!);
      const isPrivate = request.url!.includes('/private/');
      if (isPrivate && request.headers.authorization === undefined)
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      else if (request.url!.endsWith('/manifests/1'))
        response.setHeader('content-type', 'application/vnd.oci.image.manifest.v1+json').end(MANIFEST);
      else if (request.url!.includes('/blobs/')) response.end(sent);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
  });

  afterEach(() => {
    upstream.close();
    here.close();
    for (const path of [folder, given]) rmSync(path, { recursive: true, force: true });
  });

  it('has the manifests and blobs of registries that the operator named, and asks for a blob once', async () => {
    await start();
    const host = hostOf(upstream);
    expect(await ask(`${host}/team/app/manifests/1`)).toEqual({ status: 200, text: MANIFEST, digest: digestOf(MANIFEST) });
    await ask(`${host}/team/app/blobs/${digestOf(LAYER)}`);
    await vi.waitUntil(() => readdirSync(folder).join() === digestOf(LAYER).slice('sha256:'.length));
    for (let time = 0; time < 3; time++)
      expect(await ask(`${host}/team/app/blobs/${digestOf(LAYER)}`)).toMatchObject({ status: 200, text: LAYER });
    expect(asked.filter((url) => url.includes('/blobs/'))).toHaveLength(1);
    expect(await ask(`${host}/team/app/manifests/2`)).toMatchObject({ status: 404 });
  });

  it('has the images that the operator gave to all tenants, asks nobody for them, and has nothing else of their registry', async () => {
    const layer = join(folder, 'layer');
    mkdirSync(folder, { recursive: true });
    writeFileSync(layer, 'files');
    const manifest = { bytes: Buffer.from(MANIFEST), mediaType: 'application/vnd.oci.image.manifest.v1+json' };
    await shared.add(['corp.example/app:1'], { manifest, config: Buffer.from('{}'), layers: [layer] });
    await start();
    const found = { status: 200, text: MANIFEST, digest: digestOf(MANIFEST) };
    expect(await ask('corp.example/app/manifests/1')).toEqual(found);
    expect(await ask(`corp.example/app/manifests/${digestOf(MANIFEST)}`)).toEqual(found);
    expect(await ask(`corp.example/app/manifests/1`, { method: 'HEAD' })).toEqual({ ...found, text: '' });
    expect(await ask(`corp.example/app/blobs/${digestOf('files')}`)).toMatchObject({ status: 200, text: 'files' });
    for (const path of ['app/manifests/2', 'other/manifests/1', `other/manifests/${digestOf(MANIFEST)}`]) {
      expect(await ask(`corp.example/${path}`)).toMatchObject({ status: 404 });
    }
    expect(asked).toEqual([]);
  });

  it('asks nobody else in the name of the platform, and lets nobody write', async () => {
    await start();
    expect(await ask('127.0.0.1:1/team/app/manifests/1')).toMatchObject({ status: 404 });
    expect(await ask(`${hostOf(upstream)}/team/app/blobs/uploads/`, { method: 'POST' })).toMatchObject({ status: 405 });
    expect(asked).toEqual([]);
  });

  it.each([
    [false, 404],
    [true, 200],
  ])("pulls with the platform's credential only where tenants may: %s", async (tenants, status) => {
    config = (host) => ({
      [host]: { mirrors: [], insecure: true, credential: { registry: host, username: 'a', password: 'b' }, tenants },
    });
    await start();
    expect(await ask(`${hostOf(upstream)}/private/app/manifests/1`)).toMatchObject({ status });
  });

  it('keeps nothing that is not what its digest says', async () => {
    await start();
    sent = 'something else';
    await ask(`${hostOf(upstream)}/team/app/blobs/${digestOf(LAYER)}`).catch(() => {});
    await vi.waitUntil(() => readdirSync(folder).length === 0);
  });

  it('keeps nothing larger than there is room for, and hands it on all the same', async () => {
    await start();
    sent = 'y'.repeat(300_000);
    expect(await ask(`${hostOf(upstream)}/team/app/blobs/${digestOf(sent)}`)).toMatchObject({ status: 200, text: sent });
    await vi.waitUntil(() => readdirSync(folder).length === 0);
  });

  it('keeps once what many ask for at the same time', async () => {
    await start();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(`${hostOf(upstream)}/team/app/blobs/${digestOf(LAYER)}`)));
    expect(answers.every(({ text }) => text === LAYER)).toBe(true);
    await vi.waitUntil(() => readdirSync(folder).join() === digestOf(LAYER).slice('sha256:'.length));
  });

  it('makes room for what comes by what was not asked for longest', async () => {
    await start();
    for (const letter of ['a', 'b', 'c']) {
      sent = letter.repeat(100_000);
      await ask(`${hostOf(upstream)}/team/app/blobs/${digestOf(sent)}`);
    }
    await vi.waitUntil(() => readdirSync(folder).length === 2 && !readdirSync(folder).some((name) => name.endsWith('.part')));
  });
});
