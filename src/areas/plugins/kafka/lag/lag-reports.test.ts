import { beforeEach, describe, expect, test } from 'vitest';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { MetricsRegistry } from '../../../../lib/metrics.ts';
import { LagReports } from './lag-reports.ts';
import { LAG_METRIC } from './lag-metrics.ts';

describe('LagReports', () => {
  let clock: FakeClock;
  let metrics: MetricsRegistry;
  let installation: PluginInstallation;
  let told: string[];
  let writes: number;
  let reports: LagReports;

  /** An API server with one installation. */
  const client = {
    resource: () => ({
      status: {
        patch: (_: string, { patch }: { patch: { status: PluginInstallation['status'] } }) => {
          writes++;
          installation = { ...installation, status: patch.status };
          return Promise.resolve(installation);
        },
      },
    }),
  };
  const started = () => {
    const events = { record: (_: unknown, { reason, message }: { reason: string; message: string }) => told.push(`${reason}: ${message}`) };
    return new LagReports({ client, clock, metrics, events } as never);
  };
  beforeEach(() => {
    clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
    metrics = new MetricsRegistry();
    installation = { metadata: { name: 'hello', namespace: 'school', uid: '1', resourceVersion: '1' }, spec: {}, status: {} } as never;
    told = [];
    writes = 0;
    reports = started();
  });

  const look = async (seconds: number): Promise<void> => {
    const lag = { tenant: 'school', plugin: 'hello', topic: 'school.a.b.v1', group: 'school.hello.main', partition: 0, seconds };
    await reports.tell([{ installation, target: { tenant: 'school', plugin: 'hello' } } as never], [lag]);
  };
  const looks = async (count: number, seconds: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      await look(seconds);
      await clock.advance(30_000);
    }
  };
  const raised = () => installation.status?.conditions?.find(({ type }) => type === 'ConsumerLag');

  test('raise the alert after five minutes, once, and end it once', async () => {
    await looks(10, 100);
    expect([raised(), writes]).toEqual([undefined, 0]);
    await looks(10, 100);
    expect(raised()).toMatchObject({
      status: 'True',
      reason: 'LagHigh',
      message: 'events wait for more than 60 s for school.hello.main since 2026-01-01T00:00:00Z',
    });
    await looks(10, 3);
    expect(raised()).toMatchObject({ status: 'False', reason: 'LagNormal' });
    expect(writes).toBe(2);
    expect(told).toEqual([
      'LagHigh: events wait for more than 60 s for school.hello.main since 2026-01-01T00:00:00Z',
      'LagNormal: events are read again',
    ]);
  });

  test('keep an alert over a restart, and over a broker that is away', async () => {
    await looks(11, 100);
    reports = started();
    await looks(2, 100);
    reports.silence();
    expect([raised()?.status, writes]).toEqual(['True', 1]);
    await looks(1, 3);
    expect(raised()?.status).toBe('False');
  });

  test('forget no time of a broker that is away for a moment', async () => {
    await looks(9, 100);
    reports.silence();
    await clock.advance(60_000);
    await looks(1, 100);
    expect(raised()?.status).toBe('True');
  });

  test('export what was measured, and nothing that was not', async () => {
    await look(12.5);
    const line = `${LAG_METRIC}{tenant="school",plugin="hello",topic="school.a.b.v1",group="school.hello.main",partition="0"} 12.5`;
    expect(metrics.expose()).toContain(line);
    reports.silence();
    expect(metrics.expose()).not.toContain('school.hello.main');
  });
});
