import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_NODE } from '../support/node-client.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';

const RUNS = '/apis/kruntimes.io/v1alpha1/namespaces/default/runs';
const MAKES_TWO = 'mkdir "$KRUNTIME_ARTIFACTS_DIR/d"; echo hi > "$KRUNTIME_ARTIFACTS_DIR/d/x"; echo top > "$KRUNTIME_ARTIFACTS_DIR/t"';

describe('tenantry up, a Runtime with a place for artifacts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-artifacts-'));
  const data = join(folder, 'data');
  let engine: SpawnedEngine;
  beforeAll(async () => {
    chmodSync(folder, 0o711);
    engine = await spawnEngine(data, { args: PLAIN_NODE });
  }, 30_000);
  afterAll(async () => {
    await engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const create = async (path: string, object: object): Promise<void> => {
    const { status, body } = await engine.target.request('POST', path, object);
    if (status !== 201) throw new Error(JSON.stringify(body));
  };
  const krt = (...args: string[]): string =>
    execFileSync(process.execPath, ['bin/krt', ...args], { env: { ...process.env, KUBECONFIG: engine.target.kubeconfig } }).toString();
  const phase = async () => (await engine.target.request('GET', `${RUNS}/makes`)).body.status?.phase;

  it('keeps what a Run leaves for whoever fetches it, until the Run is deleted', async () => {
    await create('/api/v1/namespaces/default/persistentvolumeclaims', {
      metadata: { name: 'artifacts' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await create(RUNS.replace(/runs$/, 'runtimes'), {
      apiVersion: 'kruntimes.io/v1alpha1',
      kind: 'Runtime',
      metadata: { name: 'arty' },
      spec: {
        template: { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash' }] } },
        artifactStore: { driver: 'filesystem', filesystem: { volumeClaimName: 'artifacts' } },
      },
    });
    await create(RUNS, {
      apiVersion: 'kruntimes.io/v1alpha1',
      kind: 'Run',
      metadata: { name: 'makes' },
      spec: { runtime: 'arty', mode: { task: { args: [MAKES_TWO] } } },
    });
    await expect.poll(phase, { timeout: 60_000, interval: 100 }).toBe('Succeeded');

    const file = join(folder, 'd.tar.gz');
    expect(krt('artifact', 'list', 'makes')).toMatch(/d +directory.*\nt +file +4 /);
    krt('artifact', 'download', 'makes', 'd', '-o', file);
    expect(execFileSync('tar', ['-xzOf', file, 'x']).toString()).toBe('hi\n');

    const stored = () => readdirSync(join(data, 'node', 'volumes'), { recursive: true }).filter((path) => String(path).endsWith('/t'));
    expect(stored()).toHaveLength(1);
    await engine.target.request('DELETE', `${RUNS}/makes`);
    await expect
      .poll(async () => (await engine.target.request('GET', `${RUNS}/makes`)).status, { timeout: 60_000, interval: 100 })
      .toBe(404);
    expect(stored()).toEqual([]);
  }, 150_000);
});
