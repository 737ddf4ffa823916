import type { MetricsRegistry } from '../../lib/metrics.ts';

export interface SchedulerMetrics {
  attempted(result: 'scheduled' | 'unschedulable' | 'error', seconds: number): void;
  evicted(victims: number): void;
}

export function schedulerMetrics(
  registry: MetricsRegistry | undefined,
  counts: () => { active: number; asleep: number; retrying: number },
): SchedulerMetrics {
  if (!registry) return { attempted() {}, evicted() {} };
  const attempts = registry.counter('tenantry_scheduler_attempts_total', 'Attempts to find a node for a Pod, by result.', ['result']);
  const seconds = registry.histogram('tenantry_scheduler_attempt_seconds', 'How long one attempt took.', ['result']);
  const victims = registry.counter('tenantry_scheduler_victims_total', 'Pods sent away to make room.').labels();
  const pending = registry.gauge('tenantry_scheduler_pending_pods', 'Pods without a node, by what they wait for.', ['queue']);
  registry.beforeExpose(() => {
    for (const [queue, count] of Object.entries(counts())) pending.labels(queue).set(count);
  });
  return {
    attempted(result, took) {
      attempts.labels(result).inc();
      seconds.labels(result).observe(took);
    },
    evicted: (count) => victims.inc(count),
  };
}
