import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type } from '../e2e/command.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { helmBinary } from './helm-binary.ts';

const CHART = 'test/full/chart';

/** The tests are one story: each goes on where the one before it ended. */
describe('Helm 4 on tenantry up', () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-helm-'));
  let engine: SpawnedEngine;
  let binary: string;

  beforeAll(async () => {
    binary = await helmBinary();
    engine = await spawnEngine(data, { args: ['--node', 'none'] });
  });
  afterAll(async () => {
    await engine?.stop();
    rmSync(data, { recursive: true });
  });

  const helm = async (...args: string[]) => {
    // Helm's own folders would otherwise be those of whoever runs the tests.
    const env = { KUBECONFIG: join(data, 'kubeconfig'), HELM_CACHE_HOME: data, HELM_CONFIG_HOME: data, HELM_DATA_HOME: data };
    return type(binary, [...args, '--namespace', 'shop'], env);
  };
  const get = async (path: string) => (await engine.target.request('GET', path)).body;
  const status = async (path: string) => (await engine.target.request('GET', path)).status;
  const OBJECTS = [
    '/api/v1/namespaces/shop/configmaps/corner',
    '/api/v1/namespaces/shop/serviceaccounts/corner',
    '/api/v1/namespaces/shop/services/corner',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/corner',
    '/apis/apps/v1/namespaces/shop/deployments/corner',
    '/apis/shop.example/v1/namespaces/shop/widgets/corner',
  ];

  test('installs a chart with its CRD, an object of it, and a hook', async () => {
    const { code, stdout, stderr } = await helm('install', 'corner', CHART, '--create-namespace');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('STATUS: deployed');
    for (const path of OBJECTS) expect([path, await status(path)]).toEqual([path, 200]);
    expect((await get('/apis/shop.example/v1/namespaces/shop/widgets/corner')).spec).toEqual({ size: 'small' });
    expect((await get('/api/v1/namespaces/shop/configmaps/corner-before')).data).toEqual({ revision: '1' });
  });

  test('does not install the same release twice', async () => {
    const { code, stderr } = await helm('install', 'corner', CHART);
    expect(stderr).toContain('cannot reuse a name that is still in use');
    expect(code).toBe(1);
  });

  test('upgrades it: what changed changes, what left the chart goes', async () => {
    const { code, stderr } = await helm('upgrade', 'corner', CHART, '--set', 'greeting=bye,withService=false,replicas=3');
    expect([code, stderr]).toEqual([0, '']);
    expect((await get('/api/v1/namespaces/shop/configmaps/corner')).data).toEqual({ greeting: 'bye', revision: '2' });
    expect((await get('/apis/apps/v1/namespaces/shop/deployments/corner')).spec.replicas).toBe(3);
    expect(await status('/api/v1/namespaces/shop/services/corner')).toBe(404);
    expect((await get('/api/v1/namespaces/shop/configmaps/corner-before')).data).toEqual({ revision: '2' });
  });

  test('refuses an upgrade that is wrong, and says where', async () => {
    const { code, stderr } = await helm('upgrade', 'corner', CHART, '--set', 'replicas=many');
    expect(stderr).toContain('.spec.replicas: expected numeric (int or float), got string');
    expect(code).toBe(1);
  });

  test('rolls it back', async () => {
    const { code, stdout } = await helm('rollback', 'corner', '1');
    expect(stdout).toContain('Rollback was a success!');
    expect(code).toBe(0);
    expect((await get('/api/v1/namespaces/shop/configmaps/corner')).data.greeting).toBe('hello');
    expect((await get('/apis/apps/v1/namespaces/shop/deployments/corner')).spec.replicas).toBe(1);
    expect(await status('/api/v1/namespaces/shop/services/corner')).toBe(200);
    const history = JSON.parse((await helm('history', 'corner', '--output', 'json')).stdout) as { status: string }[];
    expect(history.map((revision) => revision.status)).toEqual(['superseded', 'superseded', 'failed', 'deployed']);
  });

  test('removes it and leaves the CRD', async () => {
    const { code, stdout } = await helm('uninstall', 'corner');
    expect(stdout).toContain('release "corner" uninstalled');
    expect(code).toBe(0);
    for (const path of OBJECTS) expect([path, await status(path)]).toEqual([path, 404]);
    expect(await status('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.shop.example')).toBe(200);
    expect(JSON.parse((await helm('list', '--output', 'json')).stdout)).toEqual([]);
  });

  test('the chart of Tenantry itself is accepted, and only where its rules know it', async () => {
    const env = { KUBECONFIG: join(data, 'kubeconfig'), HELM_CACHE_HOME: data, HELM_CONFIG_HOME: data, HELM_DATA_HOME: data };
    const install = (...args: string[]) =>
      type(
        binary,
        ['install', 'tenantry', 'charts/tenantry', '--create-namespace', ...args, '--set', 'image=registry.example/tenantry:1'],
        env,
      );
    expect((await install('--namespace', 'elsewhere')).stderr).toContain('install Tenantry into the namespace tenantry-system');
    const installed = await install('--namespace', 'tenantry-system');
    expect(installed.stderr).toBe('');
    for (const name of ['tenantry-controller', 'tenantry-admission'])
      expect(await status(`/apis/apps/v1/namespaces/tenantry-system/deployments/${name}`)).toBe(200);
    expect(await status('/api/v1/namespaces/tenantry-system/services/tenantry-admission')).toBe(200);
  });
});
