import type { Json } from '../../../../kube/object.ts';
import { compareQuantities, isPositive } from '../quantities.ts';

const COMPUTE = ['cpu', 'memory'];

function positive(list: Record<string, string> | undefined): string[] {
  return COMPUTE.filter((name) => list?.[name] !== undefined && isPositive(list[name]));
}

/** The quality of service a spec stands for; pod-level resources, where set, decide alone. */
export function qosClass(spec: Json): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const podLevel = spec.resources !== undefined && Object.keys({ ...spec.resources.limits, ...spec.resources.requests }).length > 0;
  const all: Json[] = podLevel ? [spec] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  let [any, guaranteed] = [false, true];
  for (const { resources } of all) {
    const [requests, limits] = [positive(resources?.requests), positive(resources?.limits)];
    any ||= requests.length + limits.length > 0;
    guaranteed &&= limits.length === COMPUTE.length;
    const same = requests.every(
      (name) => limits.includes(name) && compareQuantities(resources.requests[name], resources.limits[name]) === 0,
    );
    guaranteed &&= same && requests.length === limits.length;
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
