import { expect, it } from 'vitest';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import { runtimedMetrics } from './runtimed-metrics.ts';

it('runtimedMetrics have the names of the original, and ours', () => {
  const registry = new MetricsRegistry();
  const metrics = runtimedMetrics(registry);
  const run = { metadata: { namespace: 'shop' }, spec: { runtime: 'bash' } } as Run;
  metrics.active('bash', 2);
  metrics.started(run, 'Warm', 0.01);
  metrics.started(run, 'Cold', undefined);
  metrics.finished('bash', 'Failed', 0.2);
  metrics.failedAttempt('bash', 'OOMKilled');
  metrics.retried('bash', 'Timeout');
  const text = registry.expose();
  for (const line of [
    'kruntimes_runtimed_active_runs{runtime="bash"} 2',
    'kruntimes_runtimed_runs_total{runtime="bash",result="failed"} 1',
    'kruntimes_runtimed_run_duration_seconds_count{runtime="bash"} 1',
    'kruntimes_runtimed_dispatch_duration_seconds_count{runtime="bash"} 1',
    'kruntimes_runtimed_run_failures_total{runtime="bash",phase="Running",reason="OOMKilled"} 1',
    'kruntimes_runtimed_run_retries_total{runtime="bash",reason="Timeout"} 1',
    'tenantry_run_starts_total{namespace="shop",runtime="bash",start="warm"} 1',
    'tenantry_run_starts_total{namespace="shop",runtime="bash",start="cold"} 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
