import { RUNTIME_LABEL } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import { isUntouched } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../../client/client.ts';
import { Pod } from '../../../client/kinds.ts';
import { longLivedController } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { PlacedNamespaces } from '../placed-namespaces.ts';
import { unfinishedRuns } from '../unfinished-runs.ts';
import { writeRunStatus } from '../write-run-status.ts';
import { RunScheduler } from './run-scheduler.ts';
import { runSchedulerMetrics } from './run-scheduler-metrics.ts';

export interface RunSchedulerStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  /** Those of the process, which stops them; absent: informers of its own. */
  informers?: SharedInformers;
  signal?: AbortSignal;
}

/** Names the tenant of a namespace, and its share of the turns. Written by the platform only. */
export const TENANT_LABEL = 'tenantry.dev/tenant';
const SHARE_ANNOTATION = 'tenantry.dev/run-share';
const BY_NAMESPACE = 'namespace';

/** Returns at once; decisions begin when the first lists are in. Only one may run at a time: the caller holds the Lease. */
export function startRunScheduler(options: RunSchedulerStart): { stop(): Promise<void> } {
  const { client, clock, log } = options;
  const abort = longLivedController(options.signal);
  const own = options.informers === undefined ? new SharedInformers({ client, log, signal: abort.signal }) : undefined;
  const informers = options.informers ?? own!;
  const runs = unfinishedRuns(informers);
  runs.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace!]);
  const pods = informers.get(Pod, { labelSelector: RUNTIME_LABEL });
  const placed = new PlacedNamespaces(informers);
  const namespaces = placed.informer;
  const metrics = runSchedulerMetrics(options.metrics);
  const tenantOf = (namespace: string) => {
    const { labels, annotations } = namespaces.get(namespace)?.metadata ?? {};
    const share = Number(annotations?.[SHARE_ANNOTATION]);
    return { name: labels?.[TENANT_LABEL] ?? namespace, weight: share > 0 ? share : 1 };
  };
  const scheduler = new RunScheduler({
    clock,
    log,
    metrics,
    tenantOf,
    async writeStatus(run, status) {
      await writeRunStatus(client, run, status);
    },
  });
  metrics.showWaiting(() => {
    // The metrics outlive us: another of us may have the Lease next.
    const queues = abort.signal.aborted ? [] : [...scheduler.queues()];
    return queues.map(({ namespace, waiting }) => ({ tenant: tenantOf(namespace).name, waiting }));
  });
  const tell = (run: Run) => (isUntouched(run) && placed.has(run.metadata.namespace) ? scheduler.removeRun(run) : scheduler.setRun(run));
  const following = [
    runs.onChange(({ type, object }) => (type === 'deleted' ? scheduler.removeRun(object) : tell(object))),
    placed.onChange((namespace) => runs.byIndex(BY_NAMESPACE, namespace).forEach(tell)),
    pods.onChange(({ type, object }) => (type === 'deleted' ? scheduler.removePod(object) : scheduler.setPod(object))),
  ];
  Promise.all([runs, pods, namespaces].map((informer) => informer.whenSynced(abort.signal))).then(
    () => scheduler.start(),
    () => {},
  );
  return {
    async stop() {
      for (const stop of following) stop();
      scheduler.stop();
      abort.abort();
      await own?.stop();
    },
  };
}
