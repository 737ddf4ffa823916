import { PodDisruptionBudget } from '../../../client/kinds.ts';
import { goLabelSelector } from '../../../kube/go-label-selector.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { inNamespace, podInformer, workloadInformer } from '../workload/informers.ts';
import { writeStatus } from '../workload/write-status.ts';
import { ControllerScales } from './expected-pods.ts';
import { budgetStatus, failedStatus, needsScale, stillDisrupted } from './model/budget.ts';
import { staleDisruptionController } from './stale-disruption.ts';

export function disruptionController(environment: Environment): Running {
  const { clock, log, metrics } = environment;
  const budgets = workloadInformer(environment, PodDisruptionBudget);
  const pods = podInformer(environment);
  const scales = new ControllerScales(environment);
  const controller = new Controller({
    name: 'disruption',
    clock,
    log,
    metrics,
    reconcile: (key) => reconcile(environment, budgets.get(key), pods, scales),
  });
  controller.watch(budgets).watch(pods, (change) => budgetsOf(budgets, change));
  // They wake nobody: a new size shows in Pods. But before they are known every controller would seem absent.
  for (const informer of scales.informers) controller.watch(informer, () => []);
  controller.start();
  const stale = staleDisruptionController(environment, pods);
  return {
    async stop() {
      await Promise.all([controller.stop(), stale.stop()]);
    },
  };
}

function budgetsOf(budgets: Informer, change: Change<KubeObject>): Set<string> {
  const keys = new Set<string>();
  const states = change.type === 'modified' ? [change.object, change.previous] : [change.object];
  for (const budget of inNamespace(budgets, change.object.metadata.namespace)) {
    const matcher = labelSelectorMatcher(budget.spec?.selector);
    if (states.some(({ metadata }) => matcher.matches(metadata.labels))) keys.add(keyOf(budget));
  }
  return keys;
}

async function reconcile(
  environment: Environment,
  budget: KubeObject | undefined,
  cache: Informer,
  scales: ControllerScales,
): Promise<ReconcileResult | void> {
  if (!budget) return undefined;
  const { client, clock, events } = environment;
  try {
    return await sync(environment, budget, cache, scales);
  } catch (error) {
    if (isStatusError(error, 'Conflict')) throw error;
    const message = `Failed to calculate the number of expected pods: ${errorText(error)}`;
    events.record(budget, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message });
    await writeStatus(client, PodDisruptionBudget, budget, failedStatus(budget, errorText(error), clock.now()));
    return undefined;
  }
}

async function sync(
  { client, clock, events }: Environment,
  budget: KubeObject,
  cache: Informer,
  scales: ControllerScales,
): Promise<ReconcileResult | void> {
  const matcher = labelSelectorMatcher(budget.spec.selector);
  const pods = inNamespace(cache, budget.metadata.namespace).filter(({ metadata }) => matcher.matches(metadata.labels));
  if (pods.length === 0) events.record(budget, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
  const expected = needsScale(budget) ? await scales.expectedPods(pods) : { count: pods.length, unmanaged: false };
  if (expected.unmanaged) {
    const message = `Pods selected by this PodDisruptionBudget (selector: ${goLabelSelector(budget.spec.selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
    events.record(budget, { type: 'Warning', reason: 'UnmanagedPods', message });
  }
  const now = clock.now();
  const disrupted = stillDisrupted(budget, pods, now);
  const { namespace } = budget.metadata;
  for (const pod of disrupted.notDeleted) {
    const message = `Pod was expected by PDB ${namespace}/${budget.metadata.name} to be deleted but it wasn't`;
    events.record(pod, { type: 'Warning', reason: 'NotDeleted', message });
  }
  await writeStatus(client, PodDisruptionBudget, budget, budgetStatus(budget, pods, expected.count, disrupted.pods, now));
  // A timer: an eviction that never becomes a deletion changes nothing.
  return disrupted.recheckMs === undefined ? undefined : { afterMs: disrupted.recheckMs };
}
