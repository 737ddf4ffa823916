import { ControllerRevision, DaemonSet, Node } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Change } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { Expectations } from '../workload/expectations.ts';
import { podInformer, wakeOwners, workloadInformer } from '../workload/informers.ts';
import { DaemonSetReconciler } from './daemon-set-reconciler.ts';

export function daemonSetController(environment: Environment): Running {
  const { clock, log, metrics } = environment;
  const sets = workloadInformer(environment, DaemonSet);
  const pods = podInformer(environment);
  const nodes = workloadInformer(environment, Node);
  const revisions = workloadInformer(environment, ControllerRevision);
  const expectations = new Expectations(pods, () => clock.now());
  const reconciler = new DaemonSetReconciler(environment, { sets, pods, nodes, revisions }, expectations);
  const controller = new Controller({
    name: 'daemon-set',
    clock,
    log,
    metrics,
    concurrency: 2,
    reconcile: (key, context) => reconciler.reconcile(key, context),
  });
  const selects = (set: KubeObject, pod: KubeObject): boolean => labelSelectorMatcher(set.spec?.selector).matches(pod.metadata.labels);
  controller
    .watch(sets)
    .watch(pods, wakeOwners(DaemonSet, sets, selects))
    .watch(revisions, wakeOwners(DaemonSet, sets, selects))
    .watch(nodes, (change) => (changesEligibility(change) ? [...sets.list()].map(keyOf) : []))
    .start();
  return {
    async stop() {
      expectations.close();
      await controller.stop();
    },
  };
}

/** Nodes report their state all the time; only labels and taints decide what runs on them. */
function changesEligibility(change: Change<KubeObject>): boolean {
  if (change.type !== 'modified') return true;
  const { object, previous } = change;
  return !deepEqual(object.metadata.labels, previous.metadata.labels) || !deepEqual(object.spec?.taints, previous.spec?.taints);
}
