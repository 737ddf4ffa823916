import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { runTtlController } from '../../../src/areas/runs/controllers/run-ttl/run-ttl.controller.ts';
import { FINISHED_WITH_TTL } from '../../../src/areas/runs/controllers/run-ttl/model/finished-run.ts';
import { formatTime } from '../../../src/kube/time.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { ScriptedRuns, type ServerOfRuns } from './scripted-runs.ts';

/** Finished Runs go when their time is over, whichever server keeps them. */
export function runTtlSuite(name: string, start?: () => Promise<ServerOfRuns>): void {
  describe(`a finished Run, on ${name}`, () => {
    let world: ScriptedRuns;
    let clock: FakeClock;
    let informers: SharedInformers;

    beforeAll(async () => {
      world = await ScriptedRuns.start(start);
    }, 1_800_000);
    afterAll(() => world?.stop());

    beforeEach(async () => {
      clock = new FakeClock(Date.now());
      informers = new SharedInformers({ client: world.client, log: silentLog });
      const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
      const ttl = runTtlController({ client: world.client, clock, log: silentLog, metrics: new MetricsRegistry(), informers, settings });
      ttl.start();
      await informers.whenSynced();
      return async () => {
        await ttl.stop();
        await informers.stop();
      };
    });

    const seen = (name: string) => informers.get(RunKind, { fieldSelector: FINISHED_WITH_TTL }).get(`default/${name}`);
    const end = async (name: string, ttlSecondsAfterFinished?: number) => {
      await world.run(name, { ttlSecondsAfterFinished });
      await world.status(name, { phase: 'Succeeded', completionTime: formatTime(new Date(clock.now())) });
    };

    it('is deleted when its time is over, and not before', async () => {
      await end('short', 60);
      await expect.poll(() => seen('short')).toBeDefined();
      await clock.advance(58_000);
      expect(await world.find('short')).toBeDefined();
      await clock.advance(3000);
      await expect.poll(() => world.find('short')).toBeUndefined();
    });

    it('stays when it has no such time, and is not even seen here', async () => {
      await end('keeps');
      await end('zero', 0);
      await end('marker', 60);
      await expect.poll(() => seen('marker')).toBeDefined();
      expect(seen('keeps')).toBeUndefined();
      expect(seen('zero')).toBeUndefined();
    });

    it('may be given more time, or a time at all, after its end', async () => {
      await end('longer', 60);
      await end('late');
      await expect.poll(() => seen('longer')).toBeDefined();
      const runs = world.client.resource(RunKind, 'default');
      await runs.patch('longer', { type: 'merge', patch: { spec: { ttlSecondsAfterFinished: 600 } } });
      await runs.patch('late', { type: 'merge', patch: { spec: { ttlSecondsAfterFinished: 1 } } });
      await expect.poll(() => seen('longer')?.spec.ttlSecondsAfterFinished).toBe(600);
      await expect.poll(() => seen('late')).toBeDefined();
      await clock.advance(120_000);
      await expect.poll(() => world.find('late')).toBeUndefined();
      expect(await world.find('longer')).toBeDefined();
      await clock.advance(500_000);
      await expect.poll(() => world.find('longer')).toBeUndefined();
    });

    it('that failed without a time of completion goes too', async () => {
      await world.run('timeless', { ttlSecondsAfterFinished: 60 });
      await world.status('timeless', { phase: 'Failed' });
      await expect.poll(() => seen('timeless')).toBeDefined();
      await clock.advance(62_000);
      await expect.poll(() => world.find('timeless')).toBeUndefined();
    });
  });
}
