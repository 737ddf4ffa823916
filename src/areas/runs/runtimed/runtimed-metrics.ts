import type { FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunPhase, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';

export interface RuntimedMetrics {
  active(runtime: string, count: number): void;
  /** `seconds`: from the Run's arrival here to the start of its program; absent for attempts after the first. */
  started(run: Run, start: NonNullable<RunStatus['start']>, seconds: number | undefined): void;
  finished(runtime: string, phase: RunPhase, seconds: number): void;
  failedAttempt(runtime: string, reason: FailureReason): void;
  retried(runtime: string, reason: FailureReason): void;
}

/** Under the names of the original. */
export function runtimedMetrics(registry: MetricsRegistry): RuntimedMetrics {
  const active = registry.gauge('kruntimes_runtimed_active_runs', 'Runs on this Pod.', ['runtime']);
  const runs = registry.counter('kruntimes_runtimed_runs_total', 'Runs that ended here.', ['runtime', 'result']);
  const durations = registry.histogram('kruntimes_runtimed_run_duration_seconds', 'From claim to end.', ['runtime']);
  const failures = registry.counter('kruntimes_runtimed_run_failures_total', 'Attempts that failed.', ['runtime', 'phase', 'reason']);
  const retries = registry.counter('kruntimes_runtimed_run_retries_total', 'Attempts after a failed one.', ['runtime', 'reason']);
  const dispatches = registry.histogram('kruntimes_runtimed_dispatch_duration_seconds', 'From arrival to the start of the program.', [
    'runtime',
  ]);
  const starts = registry.counter(
    'tenantry_run_starts_total',
    'Programs that were started, by a worker that waited (warm) or not (cold).',
    ['namespace', 'runtime', 'start'],
  );
  return {
    active: (runtime, count) => active.labels(runtime).set(count),
    started({ metadata, spec }, start, seconds) {
      starts.labels(metadata.namespace ?? '', spec.runtime, start.toLowerCase()).inc();
      if (seconds !== undefined) dispatches.labels(spec.runtime).observe(seconds);
    },
    finished(runtime, phase, seconds) {
      runs.labels(runtime, phase.toLowerCase()).inc();
      durations.labels(runtime).observe(seconds);
    },
    failedAttempt: (runtime, reason) => failures.labels(runtime, 'Running', reason).inc(),
    retried: (runtime, reason) => retries.labels(runtime, reason).inc(),
  };
}
