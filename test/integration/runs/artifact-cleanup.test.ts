import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactStore } from '../../../src/api/kruntimes.io/v1alpha1/artifact-store.ts';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { filesystemStore } from '../../../src/areas/runs/artifacts/filesystem-store.ts';
import { storeHash } from '../../../src/areas/runs/artifacts/model/store-hash.ts';
import { artifactCleanupController } from '../../../src/areas/runs/controllers/artifact-cleanup/artifact-cleanup.controller.ts';
import { startMaintainer } from '../../../src/areas/runs/maintainer/start-maintainer.ts';
import { Deployment, Event, Namespace, RoleBinding } from '../../../src/client/kinds.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { ScriptedRuns } from './scripted-runs.ts';

const PATIENT = { timeout: 20_000 };

const STORE: ArtifactStore = { driver: 'filesystem', filesystem: { volumeClaimName: 'artifacts' } };
const MAINTAINER = 'runtime-maintainer-8ec520a69bdef1d2';

describe('the artifacts of a Run that is deleted', () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-cleanup-'));
  const clock = new FakeClock(Date.now());
  let world: ScriptedRuns;
  let informers: SharedInformers;
  let controller: { stop(): Promise<void> };
  beforeAll(async () => {
    world = await ScriptedRuns.start();
    informers = new SharedInformers({ client: world.client, log: silentLog });
    const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
    const environment = { client: world.client, clock, log: silentLog, metrics: new MetricsRegistry(), informers, settings };
    controller = artifactCleanupController(environment).start();
    await informers.whenSynced();
  }, 30_000);
  afterAll(async () => {
    await controller?.stop();
    await informers?.stop();
    await world?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const withArtifacts = async (name: string, namespace = 'default') => {
    const runs = world.client.resource(RunKind, namespace);
    const run = await runs.create({
      metadata: { name, finalizers: ['kruntimes.io/artifact-cleanup'] },
      spec: { runtime: 'here', mode: { task: {} } },
    });
    await runs.status.patch(name, { type: 'merge', patch: { status: { phase: 'Succeeded', artifactStore: STORE } } });
    const folder = join(root, `namespaces/${namespace}/runs/${run.metadata.uid}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a'), 'x');
    return { folder, remove: () => runs.delete(name) };
  };
  const maintainers = async () => (await world.client.resource(Deployment, 'default').list()).items.map(({ metadata }) => metadata.name);

  it('get a maintainer with the first such Run, go before it, and the maintainer goes after the last', async () => {
    const kept = await withArtifacts('kept');
    const { folder, remove } = await withArtifacts('goes');
    await expect.poll(maintainers, PATIENT).toEqual([]);
    await remove();
    await expect.poll(maintainers, PATIENT).toEqual([MAINTAINER]);
    const { spec } = await world.client.resource(Deployment, 'default').get(MAINTAINER);
    expect(spec?.template.spec).toMatchObject({
      serviceAccountName: 'kruntimes-runtime-maintainer',
      containers: [{ name: 'cleaner', image: 'example/maintainer' }],
    });
    await world.client.resource(RoleBinding, 'default').get('kruntimes-runtime-maintainer');
    expect(await world.find('goes')).toBeDefined();

    const store = filesystemStore(root);
    const other = startMaintainer({
      client: world.client,
      namespace: 'default',
      storeHash: 'another',
      store,
      intervalMs: 10,
      clock: realClock,
      log: silentLog,
    });
    const mine = startMaintainer({
      client: world.client,
      namespace: 'default',
      storeHash: storeHash(STORE),
      store,
      intervalMs: 10,
      clock: realClock,
      log: silentLog,
    });
    await expect.poll(() => world.find('goes'), PATIENT).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(kept.folder)).toBe(true);
    await other.stop();

    expect(await maintainers()).toEqual([MAINTAINER]);
    await expect.poll(() => clock.pendingTimers, PATIENT).toBe(1);
    await clock.advance(59_000);
    expect(await maintainers()).toEqual([MAINTAINER]);
    await clock.advance(2000);
    await expect.poll(maintainers, PATIENT).toEqual([]);
    await mine.stop();
    const events = await world.client.resource(Event, 'default').list();
    expect(events.items.map(({ reason }) => reason)).toContain('RuntimeMaintainerEnsured');
  });

  it('are tried again when the store fails, and the Run stays so long', async () => {
    const { remove, folder } = await withArtifacts('unlucky');
    let failures = 2;
    const real = filesystemStore(root);
    const store = {
      ...real,
      removeAll: (run: { namespace: string; uid: string }) =>
        failures-- > 0 ? Promise.reject(new Error('the volume is away')) : real.removeAll(run),
    };
    const maintainer = startMaintainer({
      client: world.client,
      namespace: 'default',
      storeHash: storeHash(STORE),
      store,
      intervalMs: 10,
      clock: realClock,
      log: silentLog,
    });
    await remove();
    await expect.poll(() => failures, PATIENT).toBeLessThan(2);
    expect(await world.find('unlucky')).toBeDefined();
    await expect.poll(() => world.find('unlucky'), PATIENT).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    await maintainer.stop();
    const events = await world.client.resource(Event, 'default').list();
    expect(events.items.find(({ reason }) => reason === 'ArtifactCleanupRetry')).toMatchObject({
      type: 'Warning',
      note: expect.stringContaining('the volume is away'),
    });
  });

  it('do not keep a namespace from going', async () => {
    await world.client.resource(Namespace).create({ metadata: { name: 'doomed' } });
    await withArtifacts('held', 'doomed');
    await world.client.resource(Namespace).delete('doomed');
    const gone = async () => (await world.client.resource(Namespace).list({ fieldSelector: 'metadata.name=doomed' })).items.length === 0;
    await expect.poll(gone, PATIENT).toBe(true);
  }, 20_000);
});
