import { afterEach, expect, test } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Environment, Running } from '../environment.ts';
import { cronJobController } from './cron-job.controller.ts';

const MINUTE = 60_000;
let running: Running | undefined;
afterEach(() => running?.stop());

/** At half past midnight, with a CronJob that was just created. */
function begin(spec: Json) {
  const api = new FakeApi();
  const clock = new FakeClock('2026-01-01T00:30:00Z');
  api.now = () => clock.now();
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const reasons: string[] = [];
  const events = { record: (_object: KubeObject, { reason }: { reason: string }) => void reasons.push(reason) };
  const informers = new SharedInformers({ client, log: silentLog });
  running = cronJobController({ client, clock, log: silentLog, informers, events } as unknown as Environment, 'UTC');
  const jobTemplate = { metadata: { labels: { from: 'template' } }, spec: { template: {} } };
  const metadata = { name: 'tick', namespace: 'x' };
  api.put({ apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec: { schedule: '0 * * * *', jobTemplate, ...spec } }, 'cronjobs');
  const jobAt = (hour: number): KubeObject | undefined => api.get('jobs', 'x', `tick-${Date.UTC(2026, 0, 1, hour) / MINUTE}`);
  const status = (): Json => api.get('cronjobs', 'x', 'tick')!.status;
  const finish = (job: KubeObject, type = 'Complete'): void => {
    const time = new Date(clock.now()).toISOString();
    api.put({ ...job, status: { startTime: time, completionTime: time, conditions: [{ type, status: 'True' }] } }, 'jobs');
  };
  return { api, clock, reasons, jobAt, status, finish };
}

test('a Job is started when its time comes, once, and leaves the list when it is done', async () => {
  const { clock, jobAt, status, finish, reasons } = begin({});
  await clock.advance(29 * MINUTE);
  expect(jobAt(1)).toBeUndefined();
  await clock.advance(2 * MINUTE);
  expect(jobAt(1)?.metadata).toMatchObject({
    labels: { from: 'template' },
    annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T01:00:00Z' },
    ownerReferences: [{ kind: 'CronJob', name: 'tick', controller: true }],
  });
  expect(status()).toMatchObject({ active: [{ kind: 'Job', name: jobAt(1)!.metadata.name }], lastScheduleTime: '2026-01-01T01:00:00Z' });
  finish(jobAt(1)!);
  await clock.advance(MINUTE);
  expect(status().active).toBeUndefined();
  expect(status().lastSuccessfulTime).toBeDefined();
  expect(reasons).toEqual(['SuccessfulCreate', 'SawCompletedJob']);
  await clock.advance(60 * MINUTE);
  expect(jobAt(2)).toBeDefined();
});

test.each<[string, boolean, boolean, string]>([
  ['Allow', true, true, 'SuccessfulCreate'],
  ['Forbid', true, false, 'JobAlreadyActive'],
  ['Replace', false, true, 'SuccessfulDelete'],
])('while one runs, %s', async (concurrencyPolicy, firstStays, secondStarts, reason) => {
  const { clock, jobAt, reasons } = begin({ concurrencyPolicy });
  await clock.advance(91 * MINUTE);
  expect([jobAt(1) !== undefined, jobAt(2) !== undefined]).toEqual([firstStays, secondStarts]);
  expect(reasons.slice(1)).toContain(reason);
});

test('a suspended one starts nothing; resumed, it makes up for the last time only', async () => {
  const { api, clock, jobAt } = begin({ suspend: true });
  await clock.advance(180 * MINUTE);
  expect([jobAt(1), jobAt(2), jobAt(3)]).toEqual([undefined, undefined, undefined]);
  const cronJob = api.get('cronjobs', 'x', 'tick')!;
  api.put({ ...cronJob, spec: { ...cronJob.spec, suspend: false } }, 'cronjobs');
  await clock.advance(1000);
  expect([jobAt(1), jobAt(2)]).toEqual([undefined, undefined]);
  expect(jobAt(3)).toBeDefined();
});

test('finished Jobs beyond the limits go, the oldest first', async () => {
  const { clock, jobAt, finish } = begin({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 });
  await clock.advance(31 * MINUTE);
  finish(jobAt(1)!);
  await clock.advance(60 * MINUTE);
  finish(jobAt(2)!);
  await clock.advance(MINUTE);
  expect([jobAt(1) !== undefined, jobAt(2) !== undefined]).toEqual([false, true]);
});

test.each<[string, Json, string]>([
  ['schedule', { schedule: 'sometimes' }, 'UnparseableSchedule'],
  ['time zone', { timeZone: 'Mars/Olympus' }, 'UnknownTimeZone'],
])('a %s that cannot be read is an event', async (_name, spec, reason) => {
  const { clock, reasons } = begin(spec);
  await clock.advance(120 * MINUTE);
  expect(reasons).toEqual([reason]);
});
