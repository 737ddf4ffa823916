import { describe, expect, it } from 'vitest';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import { MOST_TENANTS, runSchedulerMetrics } from './run-scheduler-metrics.ts';

describe('runSchedulerMetrics', () => {
  it('have the names of the original', () => {
    const registry = new MetricsRegistry();
    const metrics = runSchedulerMetrics(registry);
    metrics.decided('bash', 'no_pods', 0.001);
    metrics.rejected({ plugin: 'RunAffinity', reason: 'anti_affinity' });
    metrics.queued('bash', 'acme', 0.02);
    const text = registry.expose();
    for (const line of [
      'kruntimes_scheduler_sync_total{runtime="bash",result="no_pods"} 1',
      'kruntimes_scheduler_sync_duration_seconds_count{runtime="bash"} 1',
      'kruntimes_scheduler_no_pods_total{runtime="bash"} 1',
      'kruntimes_scheduler_filter_rejections_total{plugin="RunAffinity",reason="anti_affinity"} 1',
      'kruntimes_scheduler_run_queue_duration_seconds_sum{runtime="bash"} 0.02',
      'tenantry_run_queue_wait_seconds_bucket{tenant="acme",le="0.025"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('count all tenants above a number as one', () => {
    const registry = new MetricsRegistry();
    const metrics = runSchedulerMetrics(registry);
    for (let i = 0; i < MOST_TENANTS + 5; i++) metrics.queued('bash', `tenant-${i}`, 1);
    metrics.queued('bash', 'tenant-0', 1);
    const counts = [...registry.expose().matchAll(/^tenantry_run_queue_wait_seconds_count\{tenant="(.*)"\} (\d+)$/gm)];
    expect(counts).toHaveLength(MOST_TENANTS + 1);
    expect(counts.map(([, tenant, count]) => `${tenant} ${count}`)).toEqual(expect.arrayContaining(['tenant-0 2', 'other 5']));
  });

  it('show who waits now, and forget who does not', () => {
    const registry = new MetricsRegistry();
    let waiting = [
      { tenant: 'acme', waiting: 3 },
      { tenant: 'acme', waiting: 4 },
    ];
    runSchedulerMetrics(registry).showWaiting(() => waiting);
    expect(registry.expose()).toContain('tenantry_runs_waiting{tenant="acme"} 7\n');
    waiting = [];
    expect(registry.expose()).not.toContain('tenantry_runs_waiting{');
  });
});
