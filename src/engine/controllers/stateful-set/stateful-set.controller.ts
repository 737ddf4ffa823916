import { ControllerRevision, PersistentVolumeClaim, StatefulSet } from '../../../client/kinds.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { Expectations } from '../workload/expectations.ts';
import { inNamespace, podInformer, wakeOwners, workloadInformer } from '../workload/informers.ts';
import { StatefulClaims } from './claims.ts';
import { StatefulSetReconciler } from './stateful-set-reconciler.ts';

export function statefulSetController(environment: Environment): Running {
  const { clock, log, metrics } = environment;
  const sets = workloadInformer(environment, StatefulSet);
  const pods = podInformer(environment);
  const revisions = workloadInformer(environment, ControllerRevision);
  const claims = workloadInformer(environment, PersistentVolumeClaim);
  const expectations = new Expectations(pods, () => clock.now());
  const reconciler = new StatefulSetReconciler(
    environment,
    { sets, pods, revisions },
    new StatefulClaims(environment, claims),
    expectations,
  );
  const controller = new Controller({
    name: 'stateful-set',
    clock,
    log,
    metrics,
    concurrency: 5,
    reconcile: (key, context) => reconciler.reconcile(key, context),
  });
  const selects = (set: KubeObject, object: KubeObject): boolean =>
    labelSelectorMatcher(set.spec?.selector).matches(object.metadata.labels);
  controller
    .watch(sets)
    .watch(pods, wakeOwners(StatefulSet, sets, selects))
    .watch(revisions, wakeOwners(StatefulSet, sets, selects))
    // Claims carry the labels of the selector; most have no owner, so the set is found by its name in theirs.
    .watch(claims, ({ object }) => {
      const named = inNamespace(sets, object.metadata.namespace).filter(({ metadata }) =>
        object.metadata.name!.includes(`-${metadata.name}-`),
      );
      return named.map(keyOf);
    })
    .start();
  return {
    async stop() {
      expectations.close();
      await controller.stop();
    },
  };
}
