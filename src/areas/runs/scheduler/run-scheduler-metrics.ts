import type { MetricsRegistry } from '../../../lib/metrics.ts';

export interface RunSchedulerMetrics {
  decided(runtime: string, result: 'scheduled' | 'no_pods'): void;
  /** How long a Run waited for its place, in seconds. */
  queued(runtime: string, seconds: number): void;
  conflict(stage: 'bind'): void;
  wakeUp(source: 'runtime_pod' | 'capacity_released'): void;
}

/** Under the names of the original. */
export function runSchedulerMetrics(registry: MetricsRegistry): RunSchedulerMetrics {
  const syncs = registry.counter('kruntimes_scheduler_sync_total', 'Decisions about Runs.', ['runtime', 'result']);
  const noPods = registry.counter('kruntimes_scheduler_no_pods_total', 'Decisions that found no Runtime Pod.', ['runtime']);
  const queue = registry.histogram('kruntimes_scheduler_run_queue_duration_seconds', 'How long Runs waited for a place.', ['runtime']);
  const conflicts = registry.counter('kruntimes_scheduler_reservation_conflicts_total', 'Decisions that did not stand.', ['stage']);
  const wakeUps = registry.counter('kruntimes_scheduler_pending_run_wakeups_total', 'What made waiting Runs be looked at again.', [
    'source',
  ]);
  return {
    decided(runtime, result) {
      syncs.labels(runtime, result).inc();
      if (result === 'no_pods') noPods.labels(runtime).inc();
    },
    queued: (runtime, seconds) => queue.labels(runtime).observe(seconds),
    conflict: (stage) => conflicts.labels(stage).inc(),
    wakeUp: (source) => wakeUps.labels(source).inc(),
  };
}
