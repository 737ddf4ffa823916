import { isConditionTrue } from '../../../kube/conditions.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import { Quantity } from '../../../kube/quantity.ts';
import { NODE_TENANT } from './names.ts';
import type { NodeFact, PlanFacts, PodFact } from './plan.ts';

export interface PlanObjects {
  nodes: Iterable<KubeObject>;
  pods: Iterable<KubeObject>;
  disruptionBudgets: Iterable<KubeObject>;
  /** The tenant of a namespace, by its label. */
  tenantOf(namespace: string): string | undefined;
  /** Namespaces whose Pods are nobody's to move. */
  isPlatform(namespace: string): boolean;
}

/** What a plan must know, of the objects that say it. */
export function planFacts(objects: PlanObjects): PlanFacts {
  const budgets = budgetsByNamespace(objects.disruptionBudgets);
  const pods: PodFact[] = [];
  for (const pod of objects.pods) {
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue;
    pods.push(podFact(pod, objects, budgets));
  }
  return { nodes: [...objects.nodes].map(nodeFact), pods };
}

function nodeFact({ metadata, status }: KubeObject): NodeFact {
  const labels = metadata.labels ?? {};
  return {
    name: metadata.name!,
    labels,
    tenant: labels[NODE_TENANT],
    ready: isConditionTrue(status?.conditions, 'Ready'),
    cpu: String(status?.allocatable?.cpu ?? '0'),
    memory: String(status?.allocatable?.memory ?? '0'),
  };
}

type Budgets = Map<string, { name: string; matches: (labels: Record<string, string>) => boolean }[]>;

/** Only those that let nothing go at the moment. */
function budgetsByNamespace(budgets: Iterable<KubeObject>): Budgets {
  const held: Budgets = new Map();
  for (const { metadata, spec, status } of budgets) {
    if ((status?.disruptionsAllowed ?? 0) > 0) continue;
    const matcher = labelSelectorMatcher(spec?.selector);
    const here = held.get(metadata.namespace!) ?? [];
    here.push({ name: metadata.name!, matches: (labels) => matcher.matches(labels) });
    held.set(metadata.namespace!, here);
  }
  return held;
}

function podFact(pod: KubeObject, { tenantOf, isPlatform }: PlanObjects, budgets: Budgets): PodFact {
  const { namespace = '', name, uid = '', labels = {}, annotations = {}, creationTimestamp, deletionTimestamp } = pod.metadata;
  const owner = controllerOf(pod);
  const { nodeName, nodeSelector, tolerations = [] } = pod.spec ?? {};
  const ofKubelet = annotations['kubernetes.io/config.mirror'] !== undefined || owner?.kind === 'Node';
  const toleratesAll = tolerations.some(({ key, operator }: Json) => !key && operator === 'Exists');
  const tenant = tenantOf(namespace);
  return {
    namespace,
    name: name!,
    uid,
    node: nodeName,
    tenant,
    controller: owner && { kind: owner.kind, name: owner.name },
    pinned: nodeSelector?.[NODE_TENANT] !== undefined,
    stays: ofKubelet || owner?.kind === 'DaemonSet' || (tenant === undefined && (isPlatform(namespace) || toleratesAll)),
    ready: isConditionTrue(pod.status?.conditions, 'Ready'),
    createdAt: Date.parse(creationTimestamp ?? '') || 0,
    terminating: deletionTimestamp !== undefined,
    ...requestsOf(pod),
    heldBy: budgets.get(namespace)?.find(({ matches }) => matches(labels))?.name,
  };
}

function requestsOf({ spec }: KubeObject): { cpu: string; memory: string } {
  const sum = (resource: string): string => {
    let total = Quantity.zero;
    for (const { resources } of spec?.containers ?? []) total = total.add(Quantity.parse(String(resources?.requests?.[resource] ?? '0')));
    return total.toString();
  };
  return { cpu: sum('cpu'), memory: sum('memory') };
}
