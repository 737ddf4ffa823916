import { canonicalQuantity, Quantity } from '../../../kube/quantity.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';

/** One Pod more than it may have: the next version's first, while the last of the old one still answers. */
const SURGE = 1;

export function replicasOf({ manifest }: Target): { min: number; max: number; targetCPUUtilization: number } {
  const { min = 1, max = min, targetCPUUtilization = 70 } = manifest.spec.runtime.replicas ?? {};
  return { min, max, targetCPUUtilization };
}

/** What the plugin may use of its tenant's share, all its Pods together. */
export function resourceQuota(target: Target): KubeObject {
  const { requests, limits, storage } = target.manifest.spec.runtime.resources;
  const pods = replicasOf(target).max + SURGE;
  const times = (amount: string | number) => Quantity.parse(amount).multiply(pods).toString();
  const hard: Record<string, string> = {
    pods: String(pods),
    'requests.cpu': times(requests.cpu),
    'requests.memory': times(requests.memory),
    'limits.cpu': times(limits.cpu),
    'limits.memory': times(limits.memory),
    persistentvolumeclaims: '0',
    'services.nodeports': '0',
    'services.loadbalancers': '0',
  };
  if (storage !== undefined) hard['limits.ephemeral-storage'] = times(storage);
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'plugin', labels: labelsOf(target, 'limits') }, spec: { hard } };
}

/** What one of its containers may use, whoever makes it. */
export function limitRange(target: Target): KubeObject {
  const { requests, limits } = target.manifest.spec.runtime.resources;
  const most = amounts(limits);
  const limit = { type: 'Container', default: most, defaultRequest: amounts(requests), max: most };
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'plugin', labels: labelsOf(target, 'limits') },
    spec: { limits: [limit] },
  };
}

/** As the API server writes them, so that a comparison sees no difference where there is none. */
export function amounts({ cpu, memory }: { cpu: string | number; memory: string | number }): { cpu: string; memory: string } {
  return { cpu: canonicalQuantity(cpu), memory: canonicalQuantity(memory) };
}
