import { beforeEach, describe, expect, it } from 'vitest';
import type { CrossTenantAttempt } from '../../../api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { failure } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import { AttemptRecorder, MAX_OBJECTS } from './attempt-recorder.ts';
import type { Attempt } from './model/attempt.ts';

const attempt = (target = 'x', over: Partial<Attempt> = {}): Attempt => ({
  tenant: 'school',
  plugin: 'hello',
  kind: 'api',
  target,
  rule: 'rbac',
  at: 1000,
  ...over,
});

let clock: FakeClock;
let stored: Map<string, CrossTenantAttempt>;
let writes: number;
let isDown: boolean;
let metrics: MetricsRegistry;
let recorder: AttemptRecorder;
beforeEach(() => {
  clock = new FakeClock();
  stored = new Map();
  writes = 0;
  isDown = false;
  metrics = new MetricsRegistry();
  const write = (object: CrossTenantAttempt): Promise<CrossTenantAttempt> => {
    if (isDown) return Promise.reject(failure('ServiceUnavailable', 'down', {}));
    writes++;
    stored.set(object.metadata.name!, object);
    return Promise.resolve(object);
  };
  const resource = { create: write, update: write, get: (name: string) => Promise.resolve(stored.get(name)!) };
  const attempts = {
    addIndex: () => {},
    find: (_: string, name: string) => stored.get(name),
    byIndex: () => [...stored.values()],
    list: () => stored.values(),
  };
  recorder = new AttemptRecorder({ client: { resource: () => resource }, clock, log: silentLog, metrics, attempts } as never);
});

const counts = () => [...stored.values()].map(({ spec }) => spec.count);

describe('AttemptRecorder', () => {
  it('writes the first of its kind at once, and then its count now and then', async () => {
    recorder.report(attempt());
    await clock.advance(200);
    expect(counts()).toEqual([1]);
    for (let index = 0; index < 1000; index++) recorder.report(attempt('x', { at: 2000 + index }));
    await clock.advance(5_000);
    expect([counts(), writes]).toEqual([[1], 1]);
    await clock.advance(6_000);
    expect([counts(), writes]).toEqual([[1001], 2]);
    expect(metrics.expose()).toContain('tenantry_cross_tenant_attempts_total{tenant="school",plugin="hello",kind="api",rule="rbac"} 1001');
  });

  it('keeps a flood of different ones within bounds, and counts them all', async () => {
    for (let index = 0; index < 5_000; index++) recorder.report(attempt(`target ${index}`));
    await clock.advance(200);
    expect(stored.size).toBe(MAX_OBJECTS + 1);
    expect(counts().reduce((sum, count) => sum + count, 0)).toBe(5_000);
    expect([...stored.values()].filter(({ spec }) => spec.target === '*')).toHaveLength(1);
  });

  it('loses nothing while the API server does not answer', async () => {
    isDown = true;
    recorder.report(attempt());
    await clock.advance(200);
    recorder.report(attempt());
    isDown = false;
    await clock.advance(10_400);
    expect(counts()).toEqual([2]);
  });

  it('counts a plugin no longer that is gone', () => {
    recorder.report(attempt());
    recorder.report(attempt('x', { plugin: 'other' }));
    recorder.forget('school', 'hello');
    expect(metrics.expose()).not.toContain('plugin="hello"');
    expect(metrics.expose()).toContain('plugin="other"');
  });

  it('has written everything when it stops', async () => {
    recorder.report(attempt('a'));
    recorder.report(attempt('b'));
    await recorder.stop();
    expect(counts()).toEqual([1, 1]);
  });
});
