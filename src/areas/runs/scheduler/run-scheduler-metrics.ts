import type { MetricsRegistry } from '../../../lib/metrics.ts';

export interface RunSchedulerMetrics {
  /** `seconds`: how long the decision took. */
  decided(runtime: string, result: 'scheduled' | 'no_pods' | 'selection_error', seconds: number): void;
  /** Of those that were asked last for a Run that found no place. */
  rejected(filter: FilterRejection): void;
  /** How long a Run waited for its place, in seconds. */
  queued(runtime: string, tenant: string, seconds: number): void;
  conflict(stage: 'bind'): void;
  wakeUp(source: 'runtime_pod' | 'capacity_released'): void;
  /** Asked for whenever somebody reads the metrics. */
  showWaiting(waiting: () => Iterable<{ tenant: string; waiting: number }>): void;
}

/** What kept a Run from every Pod, in the words of the original. */
export interface FilterRejection {
  plugin: 'RuntimePodAvailability' | 'RunAffinity';
  reason: 'no_pod' | 'no_capacity' | 'affinity' | 'anti_affinity';
}

/** Tenants that have numbers of their own; all that come later share one. A metric must not grow with what users make. */
export const MOST_TENANTS = 256;
export const OTHER_TENANTS = 'other';

/** Under the names of the original; `tenantry_` are ours. */
export function runSchedulerMetrics(registry: MetricsRegistry): RunSchedulerMetrics {
  const syncs = registry.counter('kruntimes_scheduler_sync_total', 'Decisions about Runs.', ['runtime', 'result']);
  const durations = registry.histogram('kruntimes_scheduler_sync_duration_seconds', 'How long decisions took.', ['runtime']);
  const noPods = registry.counter('kruntimes_scheduler_no_pods_total', 'Decisions that found no Runtime Pod.', ['runtime']);
  const rejections = registry.counter('kruntimes_scheduler_filter_rejections_total', 'What kept Runs from Pods.', ['plugin', 'reason']);
  const queue = registry.histogram('kruntimes_scheduler_run_queue_duration_seconds', 'How long Runs waited for a place.', ['runtime']);
  const conflicts = registry.counter('kruntimes_scheduler_reservation_conflicts_total', 'Decisions that did not stand.', ['stage']);
  const wakeUps = registry.counter('kruntimes_scheduler_pending_run_wakeups_total', 'What made waiting Runs be looked at again.', [
    'source',
  ]);
  const waits = registry.histogram('tenantry_run_queue_wait_seconds', 'How long Runs of a tenant waited for a place.', ['tenant']);
  const waiting = registry.gauge('tenantry_runs_waiting', 'Runs of a tenant that wait for a place.', ['tenant']);
  const tenantLabel = fewTenants();
  return {
    decided(runtime, result, seconds) {
      syncs.labels(runtime, result).inc();
      durations.labels(runtime).observe(seconds);
      if (result === 'no_pods') noPods.labels(runtime).inc();
    },
    rejected: ({ plugin, reason }) => rejections.labels(plugin, reason).inc(),
    queued(runtime, tenant, seconds) {
      queue.labels(runtime).observe(seconds);
      waits.labels(tenantLabel(tenant)).observe(seconds);
    },
    conflict: (stage) => conflicts.labels(stage).inc(),
    wakeUp: (source) => wakeUps.labels(source).inc(),
    showWaiting(read) {
      let shown = new Set<string>();
      registry.beforeExpose(() => {
        const counts = new Map<string, number>();
        for (const { tenant, waiting: count } of read()) {
          const label = tenantLabel(tenant);
          counts.set(label, (counts.get(label) ?? 0) + count);
        }
        for (const label of shown) if (!counts.has(label)) waiting.remove(label);
        for (const [label, count] of counts) waiting.labels(label).set(count);
        shown = new Set(counts.keys());
      });
    },
  };
}

function fewTenants(): (tenant: string) => string {
  const known = new Set<string>();
  return (tenant) => {
    if (known.has(tenant)) return tenant;
    if (known.size >= MOST_TENANTS) return OTHER_TENANTS;
    known.add(tenant);
    return tenant;
  };
}
