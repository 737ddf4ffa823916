import { RunKind, type Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { Controller } from '../../../../runtime/controller.ts';
import { keyOf } from '../../../../runtime/informer/object-cache.ts';
import type { RunsEnvironment } from '../../runs-environment.ts';
import { DueKeys } from './due-keys.ts';
import { expiryOf, finishedRun, FINISHED_WITH_TTL } from './model/finished-run.ts';

/** Deletions under way at once, when many Runs end their time together. */
const CONCURRENCY = 4;

/** Deletes Runs when their time after their end is over. Woken by Runs that end or get another time, and by the time itself. */
export function runTtlController({ client, clock, log, metrics, informers }: RunsEnvironment): { start(): void; stop(): Promise<void> } {
  const runs = informers.get(RunKind, { fieldSelector: FINISHED_WITH_TTL, transform: finishedRun });
  const isDue = (run: Run): boolean => (expiryOf(run) ?? Infinity) <= clock.now();
  const controller = new Controller({
    name: 'run-ttl',
    clock,
    log,
    metrics,
    concurrency: CONCURRENCY,
    async reconcile(key) {
      const run = runs.get(key);
      if (run === undefined || !isDue(run)) return;
      const { name, namespace, resourceVersion } = run.metadata;
      try {
        // On the state that was judged: the time may be prolonged in this very moment.
        const options = { propagationPolicy: 'Background', preconditions: { resourceVersion } } as const;
        await client.resource(RunKind, namespace).delete(name!, options);
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    },
  });
  // A timer, because no watch tells that time has passed.
  const due = new DueKeys(clock, (key) => controller.queue.add(key));
  controller.watch(runs, ({ type, object }) => {
    const expiry = type === 'deleted' ? undefined : expiryOf(object);
    if (expiry !== undefined) due.put(keyOf(object), expiry);
    return [];
  });
  return {
    start: () => void controller.start(),
    async stop() {
      due.stop();
      await controller.stop();
    },
  };
}
