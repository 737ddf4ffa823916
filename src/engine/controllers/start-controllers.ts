import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { Authority } from '../../lib/pki/certificate.ts';
import { EventRecorder } from '../../runtime/event-recorder.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { bootstrapTokenController } from './bootstrap-token/bootstrap-token.controller.ts';
import { certificatesController } from './certificates/certificates.controller.ts';
import { clusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.controller.ts';
import type { Environment, Running } from './environment.ts';
import { eventTtlController } from './event-ttl/event-ttl.controller.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.controller.ts';
import { jobTtlController } from './job-ttl/job-ttl.controller.ts';
import { namespaceController } from './namespace/namespace.controller.ts';
import { ON_DEMAND_CONTROLLERS } from './on-demand-controllers.ts';
import { ResourceMonitors } from './resource-monitors/resource-monitors.ts';
import { resourceQuotaController, type QuotaArithmetic } from './resource-quota/resource-quota.controller.ts';
import { rootCaController } from './root-ca/root-ca.controller.ts';
import { serviceAccountController } from './service-account/service-account.controller.ts';
import { startOnDemand, type OnDemand } from './start-on-demand.ts';
import { WORKLOAD_CONTROLLERS } from './workload-controllers.ts';

export interface ControllersOptions {
  /** With the rights of kube-controller-manager. */
  client: Client;
  clock: Clock;
  log: Log;
  metrics?: MetricsRegistry;
  /** PEM of the CA that Pods verify the server with. Absent: it is not published. */
  rootCa?: string;
  /** Who signs approved certificate requests. Absent: nobody. */
  authority?: () => Authority;
  /** How quotas count. Absent: quota status is not kept. */
  quota?: QuotaArithmetic;
  /** What else starts when there is something to do for it, such as the scheduler. */
  onDemand?: readonly OnDemand[];
  /** Which process reports events. */
  instance?: string;
  /** Stops everything, like `stop`. */
  signal?: AbortSignal;
}

/** Starts the controllers that the API needs to be itself. Returns at once; each begins when its first lists are in. */
export function startControllers(options: ControllersOptions): Running {
  const { client, clock, log, metrics, instance = 'tenantry' } = options;
  const informers = new SharedInformers({ client, log });
  const recorders = new Map<string, EventRecorder>();
  const eventsFrom = (controller: string): EventRecorder => {
    let recorder = recorders.get(controller);
    if (!recorder) recorders.set(controller, (recorder = new EventRecorder({ client, log, controller, instance })));
    return recorder;
  };
  const environment: Environment = { client, clock, log, metrics, informers, events: eventsFrom('controllermanager') };
  const monitors = new ResourceMonitors(environment);
  const running: Running[] = [
    serviceAccountController(environment),
    namespaceController(environment, monitors),
    garbageCollector({ ...environment, events: eventsFrom('garbage-collector-controller') }, monitors),
    clusterRoleAggregationController(environment),
    eventTtlController(environment),
    bootstrapTokenController(environment),
    jobTtlController(environment),
    startOnDemand(environment, monitors, [...WORKLOAD_CONTROLLERS, ...ON_DEMAND_CONTROLLERS, ...(options.onDemand ?? [])], eventsFrom),
  ];
  if (options.rootCa !== undefined) running.push(rootCaController(environment, options.rootCa));
  if (options.quota) running.push(resourceQuotaController(environment, monitors, options.quota));
  if (options.authority) running.push(certificatesController(environment, options.authority));
  // Last: its listeners are all there now.
  monitors.start();

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      await Promise.all([...running.map((controller) => controller.stop()), monitors.stop(), informers.stop()]);
      await Promise.all([...recorders.values()].map((recorder) => recorder.flush()));
    })());
  options.signal?.addEventListener('abort', () => void stop(), { once: true });
  return { stop };
}
