import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import { wantsNetwork } from '../../vpc/model/cluster-place.ts';
import { POOL_DEFAULTS } from '../../workers/model/pool-plan.ts';
import { strengthOf, type Bounds, type Limit } from './bounds.ts';
import type { Offers } from './offers.ts';
import { placementOf, policyWords, wordsOf } from './placement.ts';

/** One bound that a cluster breaks. */
export interface Violation {
  /** Which: `clusters`, `workers`, `version`, ... */
  bound: string;
  /** How far: a change of the object may not make it more. */
  amount: number;
  message: string;
}

/** What a tenant's clusters ask for together. */
export interface Demand {
  clusters: number;
  workers: number;
  cpu: Quantity;
  memory: Quantity;
  disk: Quantity;
}

export function demandOf(clusters: readonly TenantCluster[]): Demand {
  const demand: Demand = { clusters: clusters.length, workers: 0, cpu: Quantity.zero, memory: Quantity.zero, disk: Quantity.zero };
  for (const pool of clusters.flatMap(({ spec }) => spec.nodePools ?? [])) {
    const { replicas, cpu = POOL_DEFAULTS.cpu, memory = POOL_DEFAULTS.memory, disk = POOL_DEFAULTS.disk } = pool;
    demand.workers += replicas;
    demand.cpu = demand.cpu.add(Quantity.parse(cpu).multiply(replicas));
    demand.memory = demand.memory.add(Quantity.parse(memory).multiply(replicas));
    demand.disk = demand.disk.add(Quantity.parse(disk).multiply(replicas));
  }
  return demand;
}

/** Everything about a cluster that the bounds of its tenant or this installation do not allow. `others`: the tenant's further clusters. */
export function violationsOf(
  cluster: TenantCluster,
  others: readonly TenantCluster[],
  bounds: Bounds,
  offers: Offers,
  now: number,
): Violation[] {
  return [
    ...sizeViolations(demandOf([...others, cluster]), cluster.metadata.namespace!, bounds),
    ...replicaViolations(cluster, bounds),
    ...placeViolations(cluster, bounds, offers, now),
    ...poolViolations(cluster, bounds, offers),
    ...addOnViolations(cluster, bounds),
  ];
}

function sizeViolations(demand: Demand, tenant: string, bounds: Bounds): Violation[] {
  const violations: Violation[] = [];
  const counted = (bound: 'clusters' | 'workers', what: string) => {
    const limit = bounds[bound];
    if (limit === undefined || demand[bound] <= limit.value) return;
    violations.push(tooMuch(bound, what, tenant, String(demand[bound]), String(limit.value), limit, demand[bound]));
  };
  const measured = (bound: 'cpu' | 'memory' | 'disk', what: string) => {
    const limit = bounds[bound];
    if (limit === undefined || demand[bound].compare(limit.value) <= 0) return;
    const amount = demand[bound].milliValue();
    violations.push(tooMuch(bound, what, tenant, demand[bound].toString(), limit.value.toString(), limit, amount));
  };
  counted('clusters', 'clusters');
  counted('workers', 'workers');
  measured('cpu', 'CPUs of workers');
  measured('memory', 'memory of workers');
  measured('disk', 'disk of workers');
  return violations;
}

function tooMuch(bound: string, what: string, tenant: string, has: string, may: string, limit: Limit<unknown>, amount: number): Violation {
  const message = `tenant "${tenant}" may have ${may} ${what} and has ${has} with this one; use less, or ask the operator to raise max.${bound} of ClusterPolicy "${limit.policy}"`;
  return { bound, amount, message };
}

function replicaViolations({ spec }: TenantCluster, { controlPlaneReplicas: limit }: Bounds): Violation[] {
  const { replicas = 1 } = spec.controlPlane ?? {};
  if (limit === undefined || replicas <= limit.value) return [];
  const message = `its control plane may have ${limit.value} replica${limit.value === 1 ? '' : 's'} and asks for ${replicas}; ask for less, or ask the operator to raise max.controlPlaneReplicas of ClusterPolicy "${limit.policy}"`;
  return [{ bound: 'controlPlaneReplicas', amount: replicas, message }];
}

function placeViolations(cluster: TenantCluster, bounds: Bounds, offers: Offers, now: number): Violation[] {
  const placement = placementOf(cluster, bounds, offers, now);
  // More than a version that has only become too old: who has that one may not ask for any other.
  if ('refusal' in placement) return [{ bound: 'version', amount: 2, message: placement.refusal }];
  const seen = bounds.classify(placement.version, now);
  if ('missingIn' in seen) {
    const message = `ClusterPolicy "${seen.missingIn}" no longer allows version ${placement.version}; upgrade it`;
    return [{ bound: 'version', amount: 1, message }];
  }
  if (seen.classification !== 'expired') return [];
  return [
    { bound: 'version', amount: 1, message: `version ${placement.version} has expired (ClusterPolicy "${seen.policy}"); upgrade it` },
  ];
}

function poolViolations(cluster: TenantCluster, bounds: Bounds, { machines, networks }: Offers): Violation[] {
  const { spec } = cluster;
  const violations: Violation[] = [];
  const minimum = bounds.minimumKernelIsolation;
  for (const { name, replicas, kernelIsolation, machine } of spec.nodePools ?? []) {
    const wanted = kernelIsolation ?? minimum?.value ?? 'Sandbox';
    if (minimum !== undefined && strengthOf(wanted) < strengthOf(minimum.value)) {
      const message = `node pool "${name}" asks for kernel isolation ${wanted} and ClusterPolicy "${minimum.policy}" wants ${minimum.value} at least; ask for that`;
      violations.push({ bound: `nodePools/${name}`, amount: 1, message });
    } else if (
      replicas > 0 &&
      !machines.some((each) => strengthOf(each.isolation) >= strengthOf(wanted) && (machine ?? each.name) === each.name)
    ) {
      const has = machines.length === 0 ? 'has no machines for workers yet' : `has ${wordsOf(machines.map((machine) => machine.name))}`;
      const of = machine === undefined ? '' : `machines of the kind ${machine} and `;
      const message = `node pool "${name}" needs ${of}workers with kernel isolation ${wanted}, and this installation ${has}; set its replicas to 0`;
      violations.push({ bound: `nodePools/${name}`, amount: replicas, message });
    }
  }
  violations.push(...networkViolations(cluster, networks));
  return violations;
}

function networkViolations(cluster: TenantCluster, { unable }: Offers['networks']): Violation[] {
  const workers = (cluster.spec.nodePools ?? []).reduce((sum, { replicas }) => sum + replicas, 0);
  if (workers > 0 && cluster.status?.endpoint !== undefined && cluster.status.network === undefined) {
    const message = `it was made without a network, and workers need one; make a cluster with a pool and restore a backup of this one to it`;
    return [{ bound: 'network', amount: workers, message }];
  }
  if (unable === undefined || !wantsNetwork(cluster)) return [];
  const instead = cluster.spec.network === undefined ? 'leave its node pools out' : 'leave spec.network out';
  return [
    {
      bound: 'network',
      amount: 1,
      message: `this installation has no networks for tenant clusters: ${unable}. Ask the operator, or ${instead}`,
    },
  ];
}

function addOnViolations({ spec }: TenantCluster, bounds: Bounds): Violation[] {
  const known = new Set(bounds.addOns.map(({ name }) => name));
  return (spec.addOns ?? [])
    .filter((name) => !known.has(name))
    .map((name) => ({
      bound: `addOns/${name}`,
      amount: 1,
      message: `${policyWords(bounds)} offers no add-on "${name}"; choose from ${wordsOf([...known])}`,
    }));
}

/** What a change makes worse. Nobody is kept from changing a cluster that bounds have shrunk below. */
export function newViolations(before: readonly Violation[], after: readonly Violation[]): Violation[] {
  const known = new Map(before.map(({ bound, amount }) => [bound, amount]));
  return after.filter(({ bound, amount }) => amount > (known.get(bound) ?? 0));
}
