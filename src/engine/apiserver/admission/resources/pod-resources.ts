import type { Json, KubeObject } from '../../../../kube/object.ts';
import { addTo, largest, raiseTo, toResourceList, type ResourceList } from '../../../../kube/resource-list.ts';

type Side = 'requests' | 'limits';

/**
 * What a pod takes: its containers and sidecars together, or what its start needs at once if that is more. With `status`
 * what is in effect counts while a resize is going on, and overhead is added: that is what quotas charge.
 */
export function podResources(pod: KubeObject, side: Side, options: { status: boolean } = { status: false }): ResourceList {
  const spec: Json = pod.spec ?? {};
  const states = options.status ? containerStates(pod) : undefined;
  const total: ResourceList = new Map();
  for (const container of spec.containers ?? []) addTo(total, containerResources(pod, container, side, states));
  raiseTo(total, startResources(pod, side, total, states));
  for (const [name, amount] of toResourceList(spec.resources?.[side])) {
    if (isPodLevelResource(name)) total.set(name, amount);
  }
  if (options.status) addOverhead(total, toResourceList(spec.overhead), side);
  return total;
}

/** cpu, memory and huge pages can be given for a whole pod. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** The most that any step of a pod's start needs. Sidecars stay, so they are also added to `total`. */
function startResources(pod: KubeObject, side: Side, total: ResourceList, states: Map<string, Json> | undefined): ResourceList {
  const sidecars: ResourceList = new Map();
  const most: ResourceList = new Map();
  for (const container of pod.spec?.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always';
    const own = containerResources(pod, container, side, isSidecar ? states : undefined);
    if (isSidecar) {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(most, sidecars);
    } else {
      const step = new Map(own);
      addTo(step, sidecars);
      raiseTo(most, step);
    }
  }
  return most;
}

function containerStates(pod: KubeObject): Map<string, Json> {
  const all: Json[] = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  return new Map(all.map((state) => [state.name, state]));
}

function containerResources(pod: KubeObject, container: Json, side: Side, states: Map<string, Json> | undefined): ResourceList {
  const asked = toResourceList(container.resources?.[side]);
  const state = states?.get(container.name);
  if (!state?.resources) return asked;
  const actual = toResourceList(state.resources[side]);
  const granted = side === 'requests' ? toResourceList(state.allocatedResources) : new Map();
  return isResizeInfeasible(pod) ? largest(actual, granted) : largest(asked, actual, granted);
}

function isResizeInfeasible(pod: KubeObject): boolean {
  const pending = pod.status?.conditions?.find((condition: Json) => condition.type === 'PodResizePending');
  return pending?.reason === 'Infeasible';
}

/** To requests always, to limits only where there is one. */
function addOverhead(total: ResourceList, overhead: ResourceList, side: Side): void {
  for (const [name, amount] of overhead) {
    const present = total.get(name);
    if (side === 'requests') total.set(name, present ? present.add(amount) : amount);
    else if (present && present.sign !== 0) total.set(name, present.add(amount));
  }
}
