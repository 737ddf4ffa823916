import { formatTime } from '../../../kube/time.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure, forbiddenError, notFoundError, type StatusError } from '../../../kube/status.ts';
import { objectResponse, type ApiRequest, type ApiResponse } from '../chain/request.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import type { Resource } from '../registry/resource.ts';
import { readBody } from '../verbs/body.ts';
import type { ServerCore } from '../verbs/core.ts';
import { deleteObject } from '../verbs/delete.ts';
import { deleteOptions, isDryRun, writeOptions, type ParsedDeleteOptions } from '../verbs/write-options.ts';

const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' };
const PODS = { group: '', resource: 'pods' };
const MAX_DISRUPTED_PODS = 2000;
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";

/** A delete that asks the Pod's disruption budget first. */
export async function evict(core: ServerCore, objects: ObjectWriter, pods: Resource, request: ApiRequest): Promise<ApiResponse> {
  const write = writeOptions(request, 'CreateOptions');
  const { value: eviction } = await readBody(request);
  const { name, namespace } = request.info;
  if ((eviction?.metadata?.name ?? '') !== name) throw badRequestError('name in URL does not match name in Eviction object');
  const options = deleteOptions(request, eviction.deleteOptions ?? {});
  if (isDryRun(write)) options.dryRun = ['All'];
  const pod = objects.get(PODS, namespace, name);
  if (pod === undefined) throw notFoundError(PODS, name);

  if (!mayIgnoreBudget(pod)) {
    const unhealthy = await spendBudget(objects, pod, isDryRun(options), formatTime(core.now()));
    if (unhealthy) options.preconditions = { ...options.preconditions, resourceVersion: pod.metadata.resourceVersion };
  }
  await markDisrupted(objects, pod, options, formatTime(core.now()));
  await deleteObject(core, pods, request, namespace, name, withoutStaleRevision(options, pod));
  return objectResponse(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

function mayIgnoreBudget(pod: KubeObject): boolean {
  return ['Succeeded', 'Failed', 'Pending'].includes(pod.status?.phase) || pod.metadata.deletionTimestamp !== undefined;
}

function isReady(pod: KubeObject): boolean {
  return (pod.status?.conditions ?? []).some((c: Json) => c.type === 'Ready' && c.status === 'True');
}

/** Takes one disruption from the budget that covers the Pod. @returns whether the Pod goes because it was unhealthy anyway. */
async function spendBudget(objects: ObjectWriter, pod: KubeObject, dryRun: boolean, time: string): Promise<boolean> {
  const namespace = pod.metadata.namespace!;
  const budgets = objects
    .list(BUDGETS, namespace)
    .filter(
      (budget) => budget.spec?.selector !== undefined && labelSelectorMatcher(budget.spec.selector).matches(pod.metadata.labels ?? {}),
    );
  if (budgets.length === 0) return false;
  if (budgets.length > 1) {
    throw failure('', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.', undefined, 500);
  }
  const budget = budgets[0];
  if (!isReady(pod)) {
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
    if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return true;
  }
  if (dryRun) {
    take(structuredClone(budget), pod, time);
    return false;
  }
  await objects.update(BUDGETS, namespace, budget.metadata.name!, (draft) => take(draft, pod, time), 'status');
  return false;
}

function take(budget: KubeObject, pod: KubeObject, time: string): void {
  const name = budget.metadata.name!;
  const status = (budget.status ??= {});
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed: number = status.disruptionsAllowed ?? 0;
  const resource = { group: 'policy', resource: 'poddisruptionbudget' };
  if (allowed < 0) throw forbiddenError(resource, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS) {
    throw forbiddenError(resource, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) throw tooManyRequests(whyNot(name, status), 0);
  status.disruptionsAllowed = allowed - 1;
  status.disruptedPods = { ...status.disruptedPods, [pod.metadata.name!]: time };
}

function whyNot(name: string, status: Json): string {
  const condition = (status.conditions ?? []).find((c: Json) => c.type === 'DisruptionAllowed');
  const refused = condition?.status === 'False' && condition.message;
  if (refused && condition.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  }
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  if (refused) return `The disruption budget ${name} does not allow evicting pods currently (${condition.reason}): ${condition.message}`;
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function tooManyRequests(cause: string, retryAfterSeconds: number): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message: cause }];
  return failure('TooManyRequests', REFUSAL, retryAfterSeconds > 0 ? { causes, retryAfterSeconds } : { causes });
}

/** Leaves word on the Pod why it goes, for whoever replaces it. */
async function markDisrupted(objects: ObjectWriter, pod: KubeObject, options: ParsedDeleteOptions, time: string): Promise<void> {
  if (isDryRun(options) || pod.metadata.deletionTimestamp !== undefined || options.preconditions?.uid !== undefined) return;
  await objects.update(
    PODS,
    pod.metadata.namespace!,
    pod.metadata.name!,
    (draft) => {
      const wanted = options.preconditions?.resourceVersion;
      if (wanted !== undefined && wanted !== draft.metadata.resourceVersion) return false;
      const others = (draft.status?.conditions ?? []).filter((c: Json) => c.type !== 'DisruptionTarget');
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        lastTransitionTime: time,
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      };
      draft.status = { ...draft.status, conditions: [...others, condition] };
      return true;
    },
    'status',
  );
}

/** The condition we just wrote moved the Pod's revision: a precondition on the one before it has done its work. */
function withoutStaleRevision(options: ParsedDeleteOptions, pod: KubeObject): ParsedDeleteOptions {
  if (options.preconditions?.resourceVersion !== pod.metadata.resourceVersion) return options;
  return { ...options, preconditions: { uid: pod.metadata.uid } };
}
