import { canonicalQuantity, Quantity } from '../../../kube/quantity.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';

/** One Pod more than it may have: the next version's first, while the last of the old one still answers. */
const SURGE = 1;

export function replicasOf({ manifest }: Target): { min: number; max: number; targetCPUUtilization: number } {
  const { min = 1, max = min, targetCPUUtilization = 70 } = manifest.spec.runtime.replicas ?? {};
  return { min, max, targetCPUUtilization };
}

/** What the plugin may use of its tenant's share: all Pods of all its versions, of which there is more than one only during an upgrade. */
export function resourceQuota(target: Target, versions: readonly Target[]): KubeObject {
  const sums = new Map<string, Quantity>();
  const add = (name: string, amount: string | number, times: number): void => {
    const more = Quantity.parse(amount).multiply(times);
    sums.set(name, sums.get(name)?.add(more) ?? more);
  };
  for (const each of versions) {
    const { requests, limits, storage } = each.manifest.spec.runtime.resources;
    const pods = replicasOf(each).max + (each === target ? SURGE : 0);
    add('pods', pods, 1);
    for (const name of ['cpu', 'memory'] as const) {
      add(`requests.${name}`, requests[name], pods);
      add(`limits.${name}`, limits[name], pods);
    }
    if (storage !== undefined) add('limits.ephemeral-storage', storage, pods);
  }
  // One version alone without a limit would be refused by a quota that has one.
  if (versions.some(({ manifest }) => manifest.spec.runtime.resources.storage === undefined)) sums.delete('limits.ephemeral-storage');
  const hard: Record<string, string> = { persistentvolumeclaims: '0', 'services.nodeports': '0', 'services.loadbalancers': '0' };
  for (const [name, sum] of sums) hard[name] = sum.toString();
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'plugin', labels: labelsOf(target, 'limits') }, spec: { hard } };
}

/** What one of its containers may use, whoever makes it: as much as the version that may use most. */
export function limitRange(target: Target, versions: readonly Target[]): KubeObject {
  const { requests, limits } = target.manifest.spec.runtime.resources;
  const max = amounts({ cpu: largest(versions, 'cpu'), memory: largest(versions, 'memory') });
  const limit = { type: 'Container', default: amounts(limits), defaultRequest: amounts(requests), max };
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'plugin', labels: labelsOf(target, 'limits') },
    spec: { limits: [limit] },
  };
}

function largest(versions: readonly Target[], name: 'cpu' | 'memory'): string | number {
  const all = versions.map(({ manifest }) => manifest.spec.runtime.resources.limits[name]);
  return all.reduce((most, each) => (Quantity.parse(each).compare(Quantity.parse(most)) > 0 ? each : most));
}

/** As the API server writes them, so that a comparison sees no difference where there is none. */
export function amounts({ cpu, memory }: { cpu: string | number; memory: string | number }): { cpu: string; memory: string } {
  return { cpu: canonicalQuantity(cpu), memory: canonicalQuantity(memory) };
}
