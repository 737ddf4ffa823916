import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PLAIN_NODE } from '../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { type, type Outcome } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-tenant-'));
const data = join(folder, 'data');
const aliceFile = join(folder, 'alice.kubeconfig');
const admin = { TENANTRY_DATA: data, KUBECONFIG: '', HOME: folder };
const LIMITS = ['--quota', 'cpu=4,pods=20', '--max-namespaces', '3', '--max-runs', '2'];
let engine: SpawnedEngine;

beforeAll(async () => {
  chmodSync(folder, 0o711);
  engine = await spawnEngine(data, { args: PLAIN_NODE });
}, 60_000);
afterAll(async () => {
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const typed = (program: string, args: string[], env: Record<string, string>): Promise<Outcome> =>
  type(process.execPath, [`bin/${program}`, ...args], env, 60_000);
const tenantry = (...args: string[]): Promise<Outcome> => typed('tenantry', args, admin);
const alice = (...args: string[]): Promise<Outcome> => typed('tenantry', args, { ...admin, KUBECONFIG: aliceFile });
const krtOfAlice = (...args: string[]): Promise<Outcome> => typed('krt', args, { ...admin, KUBECONFIG: aliceFile });

vi.setConfig({ testTimeout: 120_000 });

/** In the order in which somebody would type it. */
describe('a tenant, from its first day to its last', () => {
  test('is made by one command, which says how to go on', async () => {
    expect((await tenantry('tenant', 'list')).stderr).toContain('tenantry tenant create acme --owner alice');
    const { code, stdout, stderr } = await tenantry('tenant', 'create', 'acme', '--owner', 'alice', ...LIMITS);
    expect([code, stdout]).toEqual([0, 'tenant acme created\n']);
    expect(stderr).toContain('tenantry tenant kubeconfig acme > acme.kubeconfig   what alice works with');
    expect((await tenantry('tenant', 'create', 'acme')).stderr).toContain('already exists');
    expect((await tenantry('tenant', 'create', 'a--b')).code).toBe(1);
    expect((await tenantry('tenant', 'list')).stdout).toMatch(/^acme +Active +Namespace +2 +alice /m);
  });

  test('has a kubeconfig that leads to it and nowhere else', async () => {
    const { code, stdout } = await tenantry('tenant', 'kubeconfig', 'acme', '--duration', '1h');
    expect(code).toBe(0);
    writeFileSync(aliceFile, stdout, { mode: 0o600 });
    expect((await alice('tenant', 'get', 'acme')).stdout).toMatch(/^Phase: +Active$/m);
    expect((await alice('tenant', 'list')).stderr).toContain('cannot list resource "tenants"');
    expect((await alice('tenant', 'report')).stderr).toContain('cannot list resource "configmaps"');
    expect((await alice('tenant', 'suspend', 'acme')).stderr).toContain('cannot patch resource "tenants"');
  });

  test('is divided by its owner, who sees all of it', async () => {
    expect((await alice('ns', 'create', 'dev')).stdout).toBe('namespace acme--dev created below acme\n');
    expect((await alice('ns', 'create', 'ci', '-n', 'acme--dev')).stdout).toBe('namespace acme--ci created below acme--dev\n');
    expect((await alice('ns', 'create', 'more')).stderr).toContain('exceeded hierarchical quota');
    const lines = ['acme', '├── [s] acme--dev', '│   └── [s] acme--ci', '└── acme--sys', '', '[s] indicates subnamespaces', ''];
    expect((await alice('ns', 'tree')).stdout).toBe(lines.join('\n'));
    expect((await alice('ns', 'delete', 'ci', '-n', 'acme--dev')).stdout).toBe('namespace acme--ci is being deleted\n');
  });

  test('has so many Runs in flight and not one more, and its usage shows them', async () => {
    // Nothing takes them: there is no Runtime here.
    for (const _ of [1, 2]) expect((await krtOfAlice('run', '--', 'true')).code).toBe(0);
    expect((await krtOfAlice('run', '--', 'true')).stderr).toMatch(/runs-in-flight=2; use less, or have the limit raised/);
    await vi.waitFor(
      async () => {
        const { stdout } = await alice('tenant', 'usage', 'acme');
        expect(stdout).toMatch(/^namespaces +2 +3 /m);
        expect(stdout).toMatch(/^runs in flight +2 +2 +█{20} 100%$/m);
        expect(stdout).toMatch(/^acme +0 +0 +2$/m);
      },
      { timeout: 30_000 },
    );
  });

  test('can be planned for, suspended and resumed', async () => {
    const { code, stdout } = await tenantry('tenant', 'plan', 'acme', '--isolation', 'DedicatedNodes');
    expect(stdout).toMatch(/^In the way: +no free node matches/m);
    expect(code).toBe(1);
    expect((await tenantry('tenant', 'suspend', 'acme')).stdout).toBe('tenant acme suspended\n');
    expect((await krtOfAlice('run', '--', 'true')).stderr).toContain('the tenant is suspended');
    expect((await tenantry('tenant', 'resume', 'acme')).stdout).toBe('tenant acme resumed\n');
  });

  test('is reported on, and no restart loses anything of it', async () => {
    await engine.stop();
    engine = await spawnEngine(data, { args: PLAIN_NODE });
    const report = await tenantry('tenant', 'report', 'acme');
    expect(report.stdout).toMatch(/^TENANT +NAMESPACE +CPU-H .* TOKENS$/m);
    expect(report.stdout).toMatch(/^acme +acme +- +- +- +- +- +2 +- +-$/m);
    const csv = await tenantry('tenant', 'report', '-o', 'csv');
    expect(csv.stdout).toMatch(/^from,to,tenant,namespace,cpuSeconds,.*\n[^\n]+,acme,acme,0,0,0,0,0,2,0,0\n$/);
    expect(JSON.parse((await tenantry('tenant', 'report', '-o', 'json')).stdout).usage).toEqual([
      { tenant: 'acme', namespace: 'acme', runs: 2 },
    ]);
    expect((await tenantry('tenant', 'report', '--from', '2001-01-01', '--to', '2001-02-01')).stderr).toContain('Nothing is on record');
  });

  test('goes when its name is typed again', async () => {
    expect((await tenantry('tenant', 'delete', 'acme')).stderr).toContain('nothing was changed. In scripts: --confirm acme');
    expect((await tenantry('tenant', 'delete', 'acme', '--confirm', 'acme')).stdout).toBe('tenant acme deleted\n');
    expect((await tenantry('tenant', 'get', 'acme')).stderr).toContain('there is none of that name');
    expect((await tenantry('ns', 'tree', 'acme')).stderr).toContain('there is no namespace "acme"');
  });
});
