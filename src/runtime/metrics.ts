import type { Family, Counter, Gauge, Histogram, MetricsRegistry } from '../lib/metrics.ts';

/** What a controller tells about itself; all controllers of a process share the families. */
export interface ControllerMetrics {
  reconciled(result: ReconcileResultName, seconds: number): void;
  step(step: string, outcome: string, seconds: number): void;
}

/** `requeued` asked to come again later, `conflict` lost a race and comes again at once. */
export type ReconcileResultName = 'done' | 'requeued' | 'conflict' | 'error';

export interface QueueGauges {
  length: number;
  inProgress: number;
}

export function controllerMetrics(registry: MetricsRegistry | undefined, controller: string, queue: QueueGauges): ControllerMetrics {
  if (!registry) return { reconciled() {}, step() {} };
  const total: Family<Counter> = registry.counter('tenantry_controller_reconcile_total', 'Reconciliations by result.', [
    'controller',
    'result',
  ]);
  const took: Family<Histogram> = registry.histogram('tenantry_controller_reconcile_seconds', 'How long one reconciliation took.', [
    'controller',
  ]);
  const steps: Family<Counter> = registry.counter('tenantry_controller_step_total', 'Steps run, by outcome.', [
    'controller',
    'step',
    'outcome',
  ]);
  const stepTook: Family<Histogram> = registry.histogram('tenantry_controller_step_seconds', 'How long one step took.', [
    'controller',
    'step',
  ]);
  const depth: Gauge = registry.gauge('tenantry_controller_queue_depth', 'Keys that wait for a worker.', ['controller']).labels(controller);
  const active: Gauge = registry.gauge('tenantry_controller_active', 'Keys that are being worked on.', ['controller']).labels(controller);
  registry.beforeExpose(() => {
    depth.set(queue.length);
    active.set(queue.inProgress);
  });
  const seconds = took.labels(controller);
  return {
    reconciled(result, duration) {
      total.labels(controller, result).inc();
      seconds.observe(duration);
    },
    step(step, outcome, duration) {
      steps.labels(controller, step, outcome).inc();
      stepTook.labels(controller, step).observe(duration);
    },
  };
}
