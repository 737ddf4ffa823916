import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controlPlanePrograms } from '../cluster/binaries.ts';
import { type } from '../e2e/command.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { helmBinary } from './helm-binary.ts';

let binary: string;
let programs: string;

beforeAll(async () => {
  binary = await helmBinary();
  programs = await controlPlanePrograms();
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

describe.each(['embedded', 'kubernetes'])('a tenant cluster of the provider %s', (provider) => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-clusters-helm-'));
  const kubeconfig = join(folder, 'dev.kubeconfig');
  let engine: SpawnedEngine;

  const tenantry = (...words: string[]) => type(process.execPath, ['bin/tenantry', ...words, '--data', join(folder, 'data')]);
  const helm = (...words: string[]) => {
    const env = { KUBECONFIG: kubeconfig, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
    return type(binary, [...words, '--namespace', 'shop'], env);
  };

  beforeAll(async () => {
    engine = await spawnEngine(join(folder, 'data'), { args: ['--node', 'none', '--kubernetes-programs', programs] });
    expect((await tenantry('tenant', 'create', 'acme', '--owner', 'alice')).code).toBe(0);
    const made = await tenantry('cluster', 'create', 'dev', '-n', 'acme', '--control-plane', provider);
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toContain(provider);
    writeFileSync(kubeconfig, (await tenantry('cluster', 'kubeconfig', 'dev', '-n', 'acme')).stdout);
  });
  afterAll(async () => {
    await tenantry('cluster', 'delete', 'dev', '-n', 'acme', '--confirm', 'dev');
    await engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('Helm installs a chart with its CRD into it as its administrator, upgrades and removes it', async () => {
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
});
