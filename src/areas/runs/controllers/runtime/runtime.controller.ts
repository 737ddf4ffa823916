import { RUNTIME_LABEL } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RuntimeCondition, RUNTIMED_READY } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind, type Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { Deployment, Pod } from '../../../../client/kinds.ts';
import { findCondition, isConditionTrue } from '../../../../kube/conditions.ts';
import type { Json } from '../../../../kube/object.ts';
import { Controller } from '../../../../runtime/controller.ts';
import { keyOf, toKey } from '../../../../runtime/informer/object-cache.ts';
import { ownerKeys } from '../../../../runtime/owner-references.ts';
import { stepReconciler } from '../../../../runtime/steps/step-reconciler.ts';
import { applyObject } from '../../apply-object.ts';
import type { RunsEnvironment } from '../../runs-environment.ts';
import { isUntouched } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { PlacedNamespaces } from '../../placed-namespaces.ts';
import { unfinishedRuns } from '../../unfinished-runs.ts';
import { deploymentName } from './model/names.ts';
import { saysTheSame } from './model/pod-reports.ts';
import { runtimeDeployment } from './model/runtime-deployment.ts';
import { failWaitingRuns } from './fail-waiting-runs.ts';
import { queuesOf, RuntimeDemand } from './runtime-demand.ts';
import { runtimeSteps } from './runtime.steps.ts';

/** Woken by Runtimes, their Deployments and Pods, and, for those that follow their queue, by Runs that come, wait and end. */
export function runtimeController(environment: RunsEnvironment): { start(): void; stop(): Promise<void> } {
  const { client, clock, log, metrics, informers, settings } = environment;
  const runtimes = informers.get(RuntimeKind);
  const deployments = informers.get(Deployment, { labelSelector: RUNTIME_LABEL });
  const pods = informers.get(Pod, { labelSelector: RUNTIME_LABEL });
  const runs = unfinishedRuns(informers);
  const placed = new PlacedNamespaces(informers);
  runs.addIndex('runtime', (run) => [toKey(run.metadata.namespace, run.spec.runtime)]);
  pods.addIndex('runtime', (pod) => [toKey(pod.metadata.namespace, pod.metadata.labels![RUNTIME_LABEL])]);
  const demand = new RuntimeDemand(clock, queuesOf(runs));
  const deploymentOf = (runtime: Runtime): Json => deployments.find(runtime.metadata.namespace, deploymentName(runtime.metadata.name!));
  const podsOf = (runtime: Runtime) => pods.byIndex('runtime', keyOf(runtime));
  const sizeOf = (runtime: Runtime) => {
    const { spec, status } = deploymentOf(runtime) ?? {};
    // One that is ready and has not said so takes no Runs yet: those that wait for it need no other.
    const taking = podsOf(runtime).filter((pod) => isConditionTrue(pod.status?.conditions, RUNTIMED_READY)).length;
    return demand.replicas(runtime, spec?.replicas ?? 0, Math.min(status?.readyReplicas ?? 0, taking));
  };

  const reconcile = stepReconciler<Runtime>({
    clock,
    read: (key) => runtimes.get(key),
    resource: (namespace) => client.resource(RuntimeKind, namespace),
    fieldManager: FIELD_MANAGER,
    steps: runtimeSteps({
      apply: (object) => applyObject(client, object, FIELD_MANAGER),
      deployment: (namespace, name) => deployments.find(namespace, name),
      replicas: sizeOf,
      pods: podsOf,
      failWaiting(runtime, which, failure) {
        const waiting = runs.byIndex('runtime', keyOf(runtime)).filter((run) => which === 'all' || isOlder(run, runtime));
        return failWaitingRuns(client, waiting, failure, new Date(clock.now()));
      },
      settings,
    }),
  });
  /** Its Pods go when the last Run that they began has ended; what it looks like is told from where it works. */
  const makeWay = async (runtime: Runtime): Promise<void> => {
    const isNeeded = runs.byIndex('runtime', keyOf(runtime)).some((run) => !isUntouched(run));
    if (isNeeded || (deploymentOf(runtime)?.spec.replicas ?? 0) === 0) return;
    await applyObject(client, runtimeDeployment(runtime, 0, settings), FIELD_MANAGER);
  };
  const controller = new Controller({
    name: 'runtime',
    clock,
    log,
    metrics,
    async reconcile(key, context) {
      const before = runtimes.get(key);
      if (before !== undefined && placed.has(before.metadata.namespace)) return makeWay(before);
      const result = await reconcile(key, context);
      const runtime = runtimes.get(key);
      // Quiet lasts without anything happening: only time tells when a Pod may go, or a Run has waited too long.
      const follows = runtime?.spec.autoscaling !== undefined && (deploymentOf(runtime)?.spec.replicas ?? 0) > 0;
      return result ?? (follows ? { afterMs: SIZE_CHECK_MS } : undefined);
    },
  })
    .watch(runtimes)
    .watch(deployments, ownerKeys('kruntimes.io', 'Runtime'))
    .watch(pods, (change) => {
      if (change.type === 'modified' && saysTheSame(change.previous, change.object)) return [];
      const { namespace, labels } = change.object.metadata;
      return [toKey(namespace, labels![RUNTIME_LABEL])];
    })
    .watch(placed.informer, () => [])
    .watch(runs, (change) => {
      const { metadata, spec } = change.object;
      const key = toKey(metadata.namespace, spec.runtime);
      if (change.type === 'deleted' && placed.has(metadata.namespace)) return [key];
      // Most Runs come and go without any effect on the size of their Runtime: only its queue has one.
      if (change.type !== 'added' || change.object.status !== undefined) return [];
      const runtime = runtimes.get(key);
      if (runtime === undefined) return [];
      const calls = isHopeless(runtime) || (runtime.spec.autoscaling !== undefined && needsPods(deploymentOf(runtime)));
      return calls ? [key] : [];
    });
  const unfollow = placed.onChange((namespace) => {
    for (const runtime of runtimes.list()) if (runtime.metadata.namespace === namespace) controller.queue.add(keyOf(runtime));
  });
  return {
    start: () => void controller.start(),
    async stop() {
      unfollow();
      await controller.stop();
    },
  };
}

const FIELD_MANAGER = 'kruntimes-controller';
const SIZE_CHECK_MS = 5000;

function needsPods(deployment: Json): boolean {
  return (deployment?.spec.replicas ?? 0) === 0;
}

/** Its Runs have nothing to wait for. */
function isHopeless({ status }: Runtime): boolean {
  const { InterpreterAvailable, IsolationAvailable, LimitsAvailable } = RuntimeCondition;
  return [InterpreterAvailable, IsolationAvailable, LimitsAvailable].some(
    (type) => findCondition(status?.conditions, type)?.status === 'False',
  );
}

function isOlder(run: Run, runtime: Runtime): boolean {
  return (run.metadata.creationTimestamp ?? '') < (runtime.metadata.creationTimestamp ?? '');
}
