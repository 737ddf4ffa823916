import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type } from '../e2e/command.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { helmBinary } from './helm-binary.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-clusters-helm-'));
const kubeconfig = join(folder, 'dev.kubeconfig');
let engine: SpawnedEngine;
let binary: string;

const tenantry = (...words: string[]) => type(process.execPath, ['bin/tenantry', ...words, '--data', join(folder, 'data')]);
const helm = (...words: string[]) => {
  const env = { KUBECONFIG: kubeconfig, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
  return type(binary, [...words, '--namespace', 'shop'], env);
};

beforeAll(async () => {
  binary = await helmBinary();
  engine = await spawnEngine(join(folder, 'data'), { args: ['--node', 'none'] });
  expect((await tenantry('tenant', 'create', 'acme', '--owner', 'alice')).code).toBe(0);
  expect((await tenantry('cluster', 'create', 'dev', '-n', 'acme')).code).toBe(0);
  writeFileSync(kubeconfig, (await tenantry('cluster', 'kubeconfig', 'dev', '-n', 'acme')).stdout);
});
afterAll(async () => {
  await tenantry('cluster', 'delete', 'dev', '-n', 'acme', '--confirm', 'dev');
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('Helm installs a chart with its CRD into a tenant cluster as its administrator, upgrades and removes it', async () => {
  const chart = 'test/full/chart';
  const installed = await helm('install', 'corner', chart, '--create-namespace');
  expect([installed.code, installed.stderr]).toEqual([0, '']);
  expect(installed.stdout).toContain('STATUS: deployed');
  const upgraded = await helm('upgrade', 'corner', chart, '--set', 'greeting=bye,withService=false');
  expect([upgraded.code, upgraded.stderr]).toEqual([0, '']);
  expect((await helm('get', 'manifest', 'corner')).stdout).toContain('bye');
  expect((await helm('uninstall', 'corner')).code).toBe(0);
  // Nothing of it is on the host.
  expect((await engine.target.request('GET', '/api/v1/namespaces/shop')).status).toBe(404);
});
