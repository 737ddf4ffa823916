import { Quantity } from '../../../kube/quantity.ts';
import { listed } from './listed.ts';
import { placementPlan, type PlacementFacts, type PlacementPlan } from './placement-plan.ts';
import type { Isolation, Tenant } from './tenant.ts';

/** What a plan must know of a node. */
export interface NodeFact {
  name: string;
  labels: Readonly<Record<string, string>>;
  /** Whose it is already. */
  tenant?: string;
  ready: boolean;
  cpu: string;
  memory: string;
}

/** What a plan must know of a Pod that has not ended. */
export interface PodFact {
  namespace: string;
  name: string;
  uid: string;
  node?: string;
  tenant?: string;
  /** Absent: nothing makes it again when it goes. */
  controller?: { kind: string; name: string };
  /** It goes to its tenant's nodes only. */
  pinned: boolean;
  /** It belongs on its node whoever has that: of the platform, of a DaemonSet, of the kubelet, or it tolerates every taint. */
  stays: boolean;
  ready: boolean;
  createdAt: number;
  terminating: boolean;
  cpu: string;
  memory: string;
  /** The disruption budget that lets no Pod of it go now. */
  heldBy?: string;
}

export interface PlanFacts {
  nodes: readonly NodeFact[];
  pods: readonly PodFact[];
  /** For moves into a cluster of its own, and out of it. */
  placement?: PlacementFacts;
}

/** The Pods of one workload; its Pods go one after the other. */
export interface WorkloadMove {
  namespace: string;
  kind: string;
  name: string;
  pods: readonly PodFact[];
  heldBy?: string;
}

export interface TenantPlan {
  tenant: string;
  from: Isolation;
  to: Isolation;
  /** Which nodes become the tenant's, stay so, and are given back. */
  nodes: { take: string[]; keep: string[]; release: string[] };
  /** The tenant's workloads that must go elsewhere, in order. */
  moves: WorkloadMove[];
  /** What others have on the nodes that become the tenant's; it goes first. */
  displaced: WorkloadMove[];
  /** What goes into a cluster of the tenant's own, or comes out of it. */
  placement?: PlacementPlan;
  /** The tenant's Pods that have not ended. */
  pods: number;
  /** What they ask for. */
  requests: { cpu: string; memory: string };
  /** What the tenant's nodes have. */
  capacity: { cpu: string; memory: string };
  /** Why it cannot be done as it is. */
  obstacles: string[];
  /** What slows it down. */
  warnings: string[];
}

export type Wanted = Pick<Tenant['spec'], 'isolation' | 'nodePool'>;

/**
 * What it takes to give a tenant the wanted isolation: `tenantry tenant plan` shows it, the controller acts by it. It names no other
 * tenant, because owners read what is made of it.
 */
export function planFor(tenant: Tenant, wanted: Wanted, facts: PlanFacts): TenantPlan {
  const name = tenant.metadata.name!;
  const to = wanted.isolation ?? 'Namespace';
  const from = (tenant.status?.isolation ?? to) as Isolation;
  const own = facts.pods.filter((pod) => pod.tenant === name);
  const selected = to === 'DedicatedNodes' ? facts.nodes.filter((node) => isSelected(node, wanted.nodePool)) : [];
  const pool = selected.filter((node) => node.tenant === undefined || node.tenant === name);
  const poolNames = new Set(pool.map((node) => node.name));
  const misplaced = own.filter((pod) => !pod.stays && isMisplaced(pod, to, poolNames));
  const foreign = facts.pods.filter((pod) => pod.tenant !== name && !pod.stays && pod.node !== undefined && poolNames.has(pod.node));
  const plan: TenantPlan = {
    tenant: name,
    from,
    to,
    nodes: {
      take: namesOf(pool.filter((node) => node.tenant === undefined)),
      keep: namesOf(pool.filter((node) => node.tenant === name)),
      release: namesOf(facts.nodes.filter((node) => node.tenant === name && !poolNames.has(node.name))),
    },
    moves: workloadsOf(misplaced),
    displaced: workloadsOf(foreign),
    pods: own.length,
    requests: sumOf(own),
    capacity: sumOf(pool),
    obstacles: [],
    warnings: [],
  };
  if (facts.placement && (from === 'Cluster') !== (to === 'Cluster'))
    plan.placement = placementPlan(name, to === 'Cluster' ? 'in' : 'out', facts.placement);
  plan.obstacles = [...obstaclesOf(plan, selected.length - pool.length), ...(plan.placement?.obstacles ?? [])];
  plan.warnings = [...warningsOf(plan, pool), ...(plan.placement?.warnings ?? [])];
  return plan;
}

function isSelected({ name, labels }: NodeFact, pool: Wanted['nodePool']): boolean {
  if (pool?.names?.includes(name)) return true;
  const wanted = Object.entries(pool?.matchLabels ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

function isMisplaced(pod: PodFact, to: Isolation, pool: ReadonlySet<string>): boolean {
  if (to !== 'DedicatedNodes') return pod.pinned;
  return !pod.pinned || (pod.node !== undefined && !pool.has(pod.node));
}

/** Jobs last: what they did so far is lost when they move, so they get the time to end on their own. */
function workloadsOf(pods: readonly PodFact[]): WorkloadMove[] {
  const workloads = new Map<string, PodFact[]>();
  for (const pod of pods) {
    const { kind, name } = pod.controller ?? { kind: 'Pod', name: pod.name };
    const key = [kind === 'Job' ? 1 : 0, pod.namespace, kind, name].join('/');
    workloads.set(key, [...(workloads.get(key) ?? []), pod]);
  }
  return [...workloads]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, members]) => {
      const [, namespace, kind, name] = key.split('/');
      return { namespace, kind, name, pods: members, heldBy: members.find(({ heldBy }) => heldBy !== undefined)?.heldBy };
    });
}

function obstaclesOf(plan: TenantPlan, conflicts: number): string[] {
  const obstacles: string[] = [];
  if (plan.to === 'DedicatedNodes') {
    if (conflicts > 0) obstacles.push(`${count(conflicts, 'node')} of spec.nodePool already belong to another tenant; choose others`);
    if (plan.nodes.take.length + plan.nodes.keep.length === 0)
      obstacles.push('no free node matches spec.nodePool; name nodes, or labels that nodes have');
    else obstacles.push(...shortages(plan));
  }
  const strangers = plan.displaced.filter(({ kind }) => kind === 'Pod').length;
  if (strangers > 0)
    obstacles.push(
      `nothing would make ${count(strangers, 'Pod')} of others on these nodes again elsewhere; delete them, or choose other nodes`,
    );
  const alone = plan.moves.filter(({ kind }) => kind === 'Pod');
  if (alone.length > 0)
    obstacles.push(
      `nothing would make ${listed(alone.map(({ namespace, name }) => `${namespace}/${name}`))} again elsewhere; delete ${alone.length === 1 ? 'it' : 'them'}`,
    );
  return obstacles;
}

function shortages({ requests, capacity }: TenantPlan): string[] {
  return (['cpu', 'memory'] as const)
    .filter((resource) => Quantity.parse(requests[resource]).compare(Quantity.parse(capacity[resource])) > 0)
    .map((resource) => `the tenant's Pods ask for ${resource} ${requests[resource]}, its nodes have ${capacity[resource]}; add nodes`);
}

function warningsOf(plan: TenantPlan, pool: readonly NodeFact[]): string[] {
  const warnings = pool.filter(({ ready }) => !ready).map(({ name }) => `node ${name} is not ready`);
  for (const { namespace, kind, name, heldBy } of plan.moves)
    if (heldBy !== undefined) warnings.push(`${kind} ${namespace}/${name} waits for its disruption budget "${heldBy}"`);
  if (plan.displaced.length > 0) warnings.push(`${count(plan.displaced.length, 'workload')} of others leave the nodes first`);
  return warnings;
}

function sumOf(items: readonly { cpu: string; memory: string }[]): { cpu: string; memory: string } {
  let cpu = Quantity.zero;
  let memory = Quantity.zero;
  for (const item of items) {
    cpu = cpu.add(Quantity.parse(item.cpu));
    memory = memory.add(Quantity.parse(item.memory));
  }
  return { cpu: cpu.toString(), memory: memory.toString() };
}

function namesOf(nodes: readonly NodeFact[]): string[] {
  return nodes.map(({ name }) => name).sort();
}

function count(n: number, noun: string): string {
  return n === 1 ? `one ${noun}` : `${n} ${noun}s`;
}
