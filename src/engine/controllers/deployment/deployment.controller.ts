import { Deployment, ReplicaSet } from '../../../client/kinds.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { toKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { claim } from '../workload/claim.ts';
import { controlledBy, controlledOrOrphaned, podInformer, wakeOwners, workloadInformer } from '../workload/informers.ts';
import { deploymentStatus, nextProgressCheck, pausedConditions } from './model/progress.ts';
import { isScaled, scaleAll } from './model/proportional-scaling.ts';
import { isRollingUpdate } from './model/sizes.ts';
import { syncNewSet } from './new-set.ts';
import { Pass } from './pass.ts';
import { deleteSurplusSets, recreate, rollingUpdate } from './roll-out.ts';

export function deploymentController(environment: Environment): Running {
  const { clock, log, metrics } = environment;
  const deployments = workloadInformer(environment, Deployment);
  const sets = workloadInformer(environment, ReplicaSet);
  const pods = podInformer(environment);
  const controller = new Controller({
    name: 'deployment',
    clock,
    log,
    metrics,
    concurrency: 5,
    reconcile: (key) => reconcile(environment, { deployments, sets, pods }, key),
  });
  const selects = (deployment: KubeObject, set: KubeObject): boolean => {
    const matcher = labelSelectorMatcher(deployment.spec?.selector);
    return !matcher.empty && matcher.matches(set.metadata.labels);
  };
  return controller
    .watch(deployments)
    .watch(sets, wakeOwners(Deployment, deployments, selects))
    .watch(pods, ({ type, object }) => {
      // Recreate waits for the last old Pod to go, which changes no set.
      if (type !== 'deleted') return [];
      const owner = controllerOf(object);
      const set = owner?.kind === 'ReplicaSet' ? sets.find(object.metadata.namespace, owner.name) : undefined;
      const above = set && controllerOf(set);
      return above?.kind === 'Deployment' ? [toKey(object.metadata.namespace, above.name)] : [];
    })
    .start();
}

interface Caches {
  deployments: Informer;
  sets: Informer;
  pods: Informer;
}

async function reconcile(environment: Environment, caches: Caches, key: string): Promise<ReconcileResult | void> {
  const deployment = caches.deployments.get(key);
  if (!deployment) return undefined;
  const { clock } = environment;
  const matcher = labelSelectorMatcher(deployment.spec.selector);
  if (matcher.empty) {
    const message = 'This deployment is selecting all pods. A non-empty selector is required.';
    environment.events.record(deployment, { type: 'Warning', reason: 'SelectingAll', message });
    return undefined;
  }
  const sets = await claimSets(environment, deployment, caches.sets, (labels) => matcher.matches(labels));
  const pass = new Pass(environment, deployment, sets);
  await takeStep(pass, () => sets.flatMap((set) => controlledBy(caches.pods, set)));
  // A timer: a rollout that makes no progress changes nothing that could wake us when its deadline passes.
  const after = nextProgressCheck(pass.deployment, pass.deployment.status, clock.now());
  return after === undefined ? undefined : { afterMs: after };
}

async function takeStep(pass: Pass, pods: () => KubeObject[]): Promise<void> {
  if (pass.deployment.metadata.deletionTimestamp !== undefined) {
    await pass.writeStatus(deploymentStatus(pass.deployment, pass.newSet, pass.old, pass.now()));
    return;
  }
  const conditions = pausedConditions(pass.deployment, pass.now());
  if (conditions) await pass.writeStatus({ ...pass.deployment.status, conditions });
  await syncNewSet(pass);
  const paused = pass.deployment.spec.paused === true;
  if (paused || isScaled(pass.deployment, pass.all)) {
    await pass.resize(scaleAll(pass.deployment, pass.newSet, pass.old));
    if (paused) await deleteSurplusSets(pass);
    await pass.writeStatus(deploymentStatus(pass.deployment, pass.newSet, pass.old, pass.now()));
  } else if (isRollingUpdate(pass.deployment)) await rollingUpdate(pass);
  else await recreate(pass, pods());
}

function claimSets(
  { client }: Environment,
  deployment: KubeObject,
  sets: Informer,
  matches: (labels: KubeObject['metadata']['labels']) => boolean,
): Promise<KubeObject[]> {
  const { namespace, name } = deployment.metadata;
  return claim(deployment, controlledOrOrphaned(sets, deployment), {
    objects: client.resource<KubeObject>(ReplicaSet, namespace),
    readOwner: () => client.resource<KubeObject>(Deployment, namespace).get(name!),
    matches: ({ metadata }) => matches(metadata.labels),
  });
}
