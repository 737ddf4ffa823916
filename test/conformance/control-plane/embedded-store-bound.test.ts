import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { EmbeddedControlPlanes } from '../../../src/areas/clusters/control-plane/embedded/embedded-control-planes.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { connectTarget } from '../../support/api-target.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const PATIENCE = { timeout: 60_000, interval: 100 };
const WANTED = {
  id: '3d6bd2cf-2a10-4a3a-9d0e-2f6a7c1d5e80',
  namespace: 'acme',
  name: 'small',
  version: '1.35.4',
  names: [],
  accessRevision: 0,
  limits: { storeBytes: 2 * 1024 ** 2 },
};

let root: string;
let planes: EmbeddedControlPlanes;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tenantry-planes-'));
  planes = new EmbeddedControlPlanes({
    root,
    program: resolve('dist/tenant-control-plane.js'),
    productVersion: '0.0.0-test',
    address: '127.0.0.1',
    serviceAddress: '10.96.0.1',
    clock: realClock,
    log: silentLog,
  });
});
afterAll(async () => {
  await planes.remove(WANTED.id);
  await planes.close();
  rmSync(root, { recursive: true, force: true });
});

it('an embedded store that has reached its limit is read and deleted from, starts again, and takes writes when there is room', async () => {
  const connect = async () => {
    const { endpoint: url, authorityPem: ca, platform } = await planes.run(WANTED);
    const certificate = { cert: platform.certificatePem, key: platform.keyPem };
    return connectTarget({ name: 'small', url, kubeconfig: '', ca, certificate, close: () => Promise.resolve() });
  };
  const target = await connect();
  const fill = async (index: number) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `large-${index}` }, data: { a: 'x'.repeat(200_000) } };
    return (await target.request('POST', PATH, body)).body;
  };
  const answers = [];
  for (let index = 0; index < 12; index++) answers.push(await fill(index));
  expect(answers[0].kind).toBe('ConfigMap');
  expect(answers[11]).toMatchObject({ kind: 'Status', code: 503, message: expect.stringContaining('the store has reached its limit') });
  await vi.waitUntil(async () => (await planes.run(WANTED)).trouble?.reason === 'StoreFull', PATIENCE);
  await planes.sleep(WANTED.id);
  await planes.run(WANTED);
  expect((await target.request('GET', `${PATH}/large-0`)).status).toBe(200);
  expect((await fill(12)).code).toBe(503);
  for (const { metadata } of answers) if (metadata?.name) await target.request('DELETE', `${PATH}/${metadata.name}`);
  await vi.waitUntil(async () => (await planes.run(WANTED)).trouble === undefined, PATIENCE);
  expect((await fill(13)).kind).toBe('ConfigMap');
  await target.close();
}, 180_000);
