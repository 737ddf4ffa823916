import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { CronJob, Job, Namespace } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { formatTime } from '../../../src/kube/time.ts';
import { Kubelet } from './kubelet.ts';

/** What the cron job controller does, on any API server that none other serves. `connect` starts the controllers. */
export function cronJobSuite(name: string, connect: () => Promise<{ client: Client; warnings: string[] }>): void {
  describe(`cron job controller on ${name}`, () => {
    const WAIT = { timeout: 5000, interval: 20 };
    let engine: { client: Client; warnings: string[] };
    let kubelet: Kubelet;

    beforeAll(async () => {
      engine = await connect();
      kubelet = new Kubelet(engine.client);
    });

    test('a CronJob makes up for a missed time: its Job runs a Pod and succeeds', async () => {
      const namespace = 'cron';
      await engine.client.resource(Namespace).create({ metadata: { name: namespace } });
      const cronJobs = engine.client.resource<KubeObject>(CronJob, namespace);
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
      await cronJobs.create({
        metadata: { name: 'tick' },
        spec: { schedule: '* * * * *', timeZone: 'Asia/Kolkata', jobTemplate: { spec: { template } } },
      });
      const lastScheduleTime = formatTime(new Date(Date.now() - 3 * 60_000));
      await cronJobs.status.patch('tick', { type: 'merge', patch: { status: { lastScheduleTime } } });
      await vi.waitFor(async () => expect(await kubelet.pods(namespace)).toHaveLength(1), WAIT);
      const [job] = (await engine.client.resource<KubeObject>(Job, namespace).list()).items;
      expect(job.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']).toMatch(/:00\+05:30$/);
      expect((await cronJobs.get('tick')).status.active).toMatchObject([{ name: job.metadata.name, uid: job.metadata.uid }]);
      await kubelet.succeed((await kubelet.pods(namespace))[0]);
      await vi.waitFor(async () => {
        const { status } = await cronJobs.get('tick');
        expect(status.active ?? []).toEqual([]);
        expect(status.lastSuccessfulTime).toBeDefined();
      }, WAIT);
      await cronJobs.delete('tick', { propagationPolicy: 'Foreground' });
      await vi.waitFor(async () => expect(await kubelet.pods(namespace)).toEqual([]), WAIT);
    });

    test('nothing had to be warned about', () => {
      expect(engine.warnings).toEqual([]);
    });
  });
}
