import { expect, test } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Environment } from '../environment.ts';
import { jobTtlController, timeLeft } from './job-ttl.controller.ts';

function job(ttl: number | undefined, finished?: string): KubeObject {
  const conditions = finished
    ? [{ type: 'Complete', status: 'True', lastTransitionTime: finished }]
    : [{ type: 'Complete', status: 'False' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'x' },
    spec: { ttlSecondsAfterFinished: ttl, template: { spec: {} } },
    status: { conditions },
  };
}

test('a finished Job goes, with its Pods first, when its time is over', async () => {
  const api = new FakeApi();
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const informers = new SharedInformers({ client, log: silentLog });
  const running = jobTtlController({ client, clock, log: silentLog, informers } as unknown as Environment);
  api.put(job(60, '2026-01-01T00:00:00Z'), 'jobs');
  await clock.advance(59_000);
  expect(api.get('jobs', 'x', 'j')?.metadata.deletionTimestamp).toBeUndefined();
  await clock.advance(1000);
  expect(api.get('jobs', 'x', 'j')?.metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['foregroundDeletion'] });
  await running.stop();
});

test('a ttl that was raised meanwhile is honoured', async () => {
  const api = new FakeApi();
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const informers = new SharedInformers({ client, log: silentLog });
  const running = jobTtlController({ client, clock, log: silentLog, informers } as unknown as Environment);
  api.put(job(60, '2026-01-01T00:00:00Z'), 'jobs');
  await clock.advance(59_000);
  const { metadata } = api.get('jobs', 'x', 'j')!;
  api.put({ ...job(600, '2026-01-01T00:00:00Z'), metadata }, 'jobs');
  await clock.advance(100_000);
  expect(api.get('jobs', 'x', 'j')?.metadata.deletionTimestamp).toBeUndefined();
  await running.stop();
});

test.each<[string, KubeObject, number | undefined]>([
  ['runs', job(60), undefined],
  ['has no ttl', job(undefined, '2026-01-01T00:00:00Z'), undefined],
  ['is being deleted', { ...job(60, '2026-01-01T00:00:00Z'), metadata: { name: 'j', deletionTimestamp: 'now' } }, undefined],
  ['finished', job(60, '2026-01-01T00:00:00Z'), 30_000],
  ['should be gone', job(0, '2026-01-01T00:00:00Z'), -30_000],
])('timeLeft of a Job that %s', (_name, object, left) => {
  expect(timeLeft(object, Date.parse('2026-01-01T00:00:30Z'))).toBe(left);
});
