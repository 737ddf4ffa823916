import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { staleRunController } from '../../../src/areas/runs/controllers/stale-run/stale-run.controller.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import type { Controller } from '../../../src/runtime/controller.ts';
import { Event, Pod } from '../../../src/client/kinds.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { formatTime } from '../../../src/kube/time.ts';
import { ScriptedRuns } from './scripted-runs.ts';

describe('Runs whose Pod does not bring them to their end', () => {
  let world: ScriptedRuns;
  let informers: SharedInformers;
  let reaper: Controller;
  let clock: FakeClock;

  beforeAll(async () => {
    world = await ScriptedRuns.start();
  }, 30_000);
  afterAll(() => world?.stop());

  beforeEach(async () => {
    clock = new FakeClock(Date.now());
    informers = new SharedInformers({ client: world.client, log: silentLog });
    const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
    reaper = staleRunController({ client: world.client, clock, log: silentLog, metrics: new MetricsRegistry(), informers, settings });
    reaper.start();
    await informers.whenSynced();
    return async () => {
      await reaper.stop();
      await informers.stop();
    };
  });

  const beat = (pod: string, status = 'True') => world.heartbeat(pod, status, formatTime(new Date(clock.now())));

  it('end as Failed with PodGone when the Pod is deleted, and an event says so', async () => {
    const pod = await world.pod('gone');
    await world.runOn('lost', pod, 'Running');
    await world.deletePod('gone');
    const { status } = await world.until('lost', (run) => run.status?.phase === 'Failed');
    expect(status).toMatchObject({ message: 'assigned pod was deleted', attempt: 1, completionTime: expect.any(String) });
    expect(status?.conditions?.find(({ type }) => type === 'Completed')).toMatchObject({ status: 'False', reason: 'PodGone' });
    await expect
      .poll(async () => (await world.client.resource(Event, 'default').list()).items.map(({ reason }) => reason))
      .toContain('StaleRunFailed');
  });

  it('get another place within their retry policy', async () => {
    const pod = await world.pod('gone-again');
    await world.runOn('retried', pod, 'Running', { retryPolicy: { maxAttempts: 2 } });
    await world.deletePod('gone-again');
    const { status } = await world.until('retried', (run) => run.status?.phase === 'Pending');
    expect(status).toMatchObject({ attempt: 2 });
    expect(status?.assignedPod).toBeUndefined();
  });

  it('are found when the Pod was gone before they were told of it', async () => {
    await world.runOn('ghost', { name: 'never-was', uid: 'none' }, 'Scheduled');
    const { status } = await world.until('ghost', (run) => run.status?.phase === 'Pending');
    expect(status?.attempt).toBeUndefined();
  });

  it('are found when another Pod took the name', async () => {
    await world.pod('twin');
    await world.runOn('replaced', { name: 'twin', uid: 'of-its-predecessor' }, 'Running');
    const { status } = await world.until('replaced', (run) => run.status?.phase === 'Failed');
    expect(status?.message).toBe('assigned pod was replaced');
  });

  it('stay with a Pod that drains, but those that did not begin leave it', async () => {
    // Only a Pod that has a node gets time to end.
    const pod = await world.pod('draining', { finalizers: ['example.com/held'] }, { nodeName: 'nowhere' });
    await world.runOn('drains', pod, 'Running');
    await world.runOn('waits', pod, 'Scheduled');
    await world.deletePod('draining', 60);
    await world.until('waits', (run) => run.status?.phase === 'Pending');
    await clock.advance(80_000);
    expect((await world.get('drains')).status?.phase).toBe('Running');
    await clock.advance(60_000);
    const { status } = await world.until('drains', (run) => run.status?.phase === 'Failed');
    expect(status?.message).toBe('assigned pod is terminating');
    await world.client.resource(Pod, 'default').patch('draining', { type: 'merge', patch: { metadata: { finalizers: null } } });
  });

  it('are given up when nothing is heard of runtimed for long, and not before', async () => {
    const pod = await world.pod('silent');
    await beat('silent');
    await world.runOn('quiet', pod, 'Running');
    await informers.get(Pod, { labelSelector: 'runtime' }).whenSynced();
    await expect.poll(() => clock.pendingTimers).toBeGreaterThan(0);
    await clock.advance(25_000);
    await beat('silent');
    await expect.poll(() => informers.get(Pod, { labelSelector: 'runtime' }).get('default/silent')?.status?.conditions?.length).toBe(2);
    await clock.advance(100);
    await clock.advance(29_000);
    expect((await world.get('quiet')).status?.phase).toBe('Running');
    await clock.advance(2000);
    const { status } = await world.until('quiet', (run) => run.status?.phase === 'Failed');
    expect(status?.message).toBe('runtimed heartbeat is stale');
  });
});
