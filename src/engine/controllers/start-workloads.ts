import type { Environment, Running } from './environment.ts';
import type { ResourceMonitors } from './resource-monitors/resource-monitors.ts';

type Start = (environment: Environment) => Running;

/** The controllers of workloads by the resource that they look after. */
const WORKLOADS: Record<string, () => Promise<Start>> = {
  'batch/cronjobs': async () => (await import('./cron-job/cron-job.controller.ts')).cronJobController,
  'policy/poddisruptionbudgets': async () => (await import('./disruption/disruption.controller.ts')).disruptionController,
  'apps/statefulsets': async () => (await import('./stateful-set/stateful-set.controller.ts')).statefulSetController,
  'apps/daemonsets': async () => (await import('./daemon-set/daemon-set.controller.ts')).daemonSetController,
  'batch/jobs': async () => (await import('./job/job.controller.ts')).jobController,
  'apps/deployments': async () => (await import('./deployment/deployment.controller.ts')).deploymentController,
  'apps/replicasets': async () => (await import('./replica-set/replica-set.controller.ts')).replicaSetController,
  '/replicationcontrollers': async () => (await import('./replica-set/replica-set.controller.ts')).replicationController,
};

/**
 * Starts each workload controller with the first object of its kind: an engine that runs none pays for none, neither in code nor in caches of
 * Pods. The monitors tell, so nothing is watched for this.
 */
export function startWorkloads(environment: Environment, monitors: ResourceMonitors): Running {
  const starting = new Map<string, Promise<Running | undefined>>();
  let stopped = false;
  const begin = async (load: () => Promise<Start>): Promise<Running | undefined> => {
    try {
      const start = await load();
      return stopped ? undefined : start(environment);
    } catch (error) {
      environment.log.error('cannot start a workload controller', { error });
      return undefined;
    }
  };
  monitors.listen({
    observed({ group, plural }) {
      const id = `${group}/${plural}`;
      const load = WORKLOADS[id];
      if (!load || stopped || starting.has(id)) return;
      starting.set(id, begin(load));
    },
  });
  return {
    async stop() {
      stopped = true;
      const running = await Promise.all(starting.values());
      await Promise.all(running.flatMap((controller) => (controller ? [controller.stop()] : [])));
    },
  };
}
