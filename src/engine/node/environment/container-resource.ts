import type { Json, KubeObject } from '../../../kube/object.ts';
import { Quantity } from '../../../kube/quantity.ts';

export interface ResourceSelector {
  resource: string;
  containerName?: string;
  divisor?: string | number;
}

export type ResourceList = Readonly<Record<string, string | number>>;

/** What a container without a limit may use at most, as far as the downward API tells. */
const DEFAULTED = ['cpu', 'memory', 'ephemeral-storage'];
const POD_LEVEL = ['cpu', 'memory'];

/** `resourceFieldRef` of a variable of `container`. @throws Error in Kubernetes' words */
export function resourceForVariable(selector: ResourceSelector, pod: KubeObject, container: Json, allocatable: ResourceList): string {
  const most = withPodLimits(pod, allocatable);
  if (!selector.containerName) return containerResource(selector, withDefaultLimits(container, most));
  const other = findContainer(pod, selector.containerName);
  // Init containers get no defaults when others ask for them.
  const defaulted = pod.spec.containers.includes(other) ? withDefaultLimits(other, most) : other;
  return containerResource(selector, defaulted);
}

/** `resourceFieldRef` of a file in a downwardAPI volume. @throws Error in Kubernetes' words */
export function resourceForFile(selector: ResourceSelector, pod: KubeObject, allocatable: ResourceList): string {
  return containerResource(selector, withDefaultLimits(findContainer(pod, selector.containerName ?? ''), allocatable));
}

function containerResource({ resource, divisor: written = '0' }: ResourceSelector, container: Json): string {
  const dot = resource.indexOf('.');
  const list: ResourceList | undefined = { limits: container.resources?.limits, requests: container.resources?.requests }[
    resource.slice(0, dot) as 'limits'
  ];
  const name = resource.slice(dot + 1);
  const known = DEFAULTED.includes(name) || name.startsWith('hugepages-');
  if (!/^(?:limits|requests)\./.test(resource) || !known) throw new Error(`unsupported container resource : ${resource}`);
  const amount = Quantity.parse(list?.[name] ?? '0');
  const given = Quantity.parse(written);
  const divisor = given.sign === 0 ? Quantity.of(1) : given;
  const quotient = name === 'cpu' ? amount.milliValue() / divisor.milliValue() : amount.value() / divisor.value();
  return String(BigInt(Math.ceil(quotient)));
}

function withDefaultLimits(container: Json, allocatable: ResourceList): Json {
  const limits: Record<string, string | number> = { ...container.resources?.limits };
  for (const name of DEFAULTED) {
    const unset = limits[name] === undefined || Quantity.parse(limits[name]).sign === 0;
    if (unset && allocatable[name] !== undefined) limits[name] = allocatable[name];
  }
  return { ...container, resources: { ...container.resources, limits } };
}

/** A limit on the whole Pod is what its containers may use at most. */
function withPodLimits(pod: KubeObject, allocatable: ResourceList): ResourceList {
  const limits: ResourceList | undefined = pod.spec?.resources?.limits;
  if (!limits) return allocatable;
  const most = { ...allocatable };
  for (const name of POD_LEVEL) {
    if (limits[name] !== undefined && Quantity.parse(limits[name]).sign !== 0 && most[name] !== undefined) most[name] = limits[name];
  }
  return most;
}

function findContainer({ spec }: KubeObject, name: string): Json {
  const containers: Json[] = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const found = containers.find((container) => container.name === name);
  if (!found) throw new Error(`container ${name} not found`);
  return found;
}
