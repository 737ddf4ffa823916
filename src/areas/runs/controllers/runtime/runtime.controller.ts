import { RUNTIME_LABEL, RUNTIMED_CONTAINER } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RUNTIMED_READY } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import { RunKind } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind, type Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { Deployment, Pod } from '../../../../client/kinds.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Controller } from '../../../../runtime/controller.ts';
import { toKey } from '../../../../runtime/informer/object-cache.ts';
import { ownerKeys } from '../../../../runtime/owner-references.ts';
import { stepReconciler } from '../../../../runtime/steps/step-reconciler.ts';
import { applyObject } from '../../apply-object.ts';
import type { RunsEnvironment } from '../../runs-environment.ts';
import { UNFINISHED } from '../../scheduler/start-run-scheduler.ts';
import { deploymentName } from './model/names.ts';
import { RuntimeDemand } from './runtime-demand.ts';
import { runtimeSteps } from './runtime.steps.ts';

/** Woken by Runtimes, their Deployments and Pods, and, for those that follow their queue, by Runs that come, wait and end. */
export function runtimeController(environment: RunsEnvironment): Controller {
  const { client, clock, log, metrics, informers, settings } = environment;
  const runtimes = informers.get(RuntimeKind);
  const deployments = informers.get(Deployment, { labelSelector: RUNTIME_LABEL });
  const pods = informers.get(Pod, { labelSelector: RUNTIME_LABEL });
  const runs = informers.get(RunKind, { fieldSelector: UNFINISHED });
  runs.addIndex('runtime', (run) => [toKey(run.metadata.namespace, run.spec.runtime)]);
  pods.addIndex('runtime', (pod) => [toKey(pod.metadata.namespace, pod.metadata.labels![RUNTIME_LABEL])]);
  const demand = new RuntimeDemand(clock, (namespace, runtime) => runs.byIndex('runtime', toKey(namespace, runtime)));
  const deploymentOf = (runtime: Runtime): Json => deployments.find(runtime.metadata.namespace, deploymentName(runtime.metadata.name!));
  const sizeOf = (runtime: Runtime) => {
    const { spec, status } = deploymentOf(runtime) ?? {};
    return demand.replicas(runtime, spec?.replicas ?? 0, status?.readyReplicas ?? 0);
  };

  const reconcile = stepReconciler<Runtime>({
    clock,
    read: (key) => runtimes.get(key),
    resource: (namespace) => client.resource(RuntimeKind, namespace),
    fieldManager: 'kruntimes-controller',
    steps: runtimeSteps({
      apply: (object) => applyObject(client, object, 'kruntimes-controller'),
      deployment: (namespace, name) => deployments.find(namespace, name),
      replicas: sizeOf,
      complaint: (runtime) => complaintOf(pods.byIndex('runtime', toKey(runtime.metadata.namespace, runtime.metadata.name!))),
      settings,
    }),
  });
  return new Controller({
    name: 'runtime',
    clock,
    log,
    metrics,
    async reconcile(key, context) {
      const result = await reconcile(key, context);
      const runtime = runtimes.get(key);
      // Quiet lasts without anything happening: only time tells when a Pod may go, or a Run has waited too long.
      const follows = runtime?.spec.autoscaling !== undefined && (deploymentOf(runtime)?.spec.replicas ?? 0) > 0;
      return result ?? (follows ? { afterMs: SIZE_CHECK_MS } : undefined);
    },
  })
    .watch(runtimes)
    .watch(deployments, ownerKeys('kruntimes.io', 'Runtime'))
    .watch(pods, ({ object }) => [toKey(object.metadata.namespace, object.metadata.labels![RUNTIME_LABEL])])
    .watch(runs, (change) => {
      const { metadata, spec } = change.object;
      const key = toKey(metadata.namespace, spec.runtime);
      // Most Runs come and go without any effect on the size of their Runtime: only its queue has one.
      const waits = change.type === 'added' && change.object.status === undefined;
      return waits && runtimes.get(key)?.spec.autoscaling !== undefined && needsPods(deploymentOf(runtimes.get(key)!)) ? [key] : [];
    });
}

const SIZE_CHECK_MS = 5000;

function needsPods(deployment: Json): boolean {
  return (deployment?.spec.replicas ?? 0) === 0;
}

/** The first thing that a Pod says is wrong: with its image, its containers, its interpreter. */
function complaintOf(pods: KubeObject[]): { reason: string; message: string } | undefined {
  for (const { metadata, status } of pods) {
    const states: Json[] = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const { name, state } of states) {
      const reason: string | undefined = state?.waiting?.reason;
      if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') continue;
      return { reason, message: `container "${name}" of Pod "${metadata.name}": ${state.waiting.message ?? reason}` };
    }
    const runtimed = findCondition<Json>(status?.conditions, RUNTIMED_READY);
    if (runtimed?.status === 'False')
      return { reason: runtimed.reason, message: `${RUNTIMED_CONTAINER} of Pod "${metadata.name}": ${runtimed.message}` };
  }
  return undefined;
}
