import type { Container, PodSpec } from './generated/core-v1.ts';
import { Quantity } from './quantity.ts';

/** Amounts as the scheduler counts them: cpu in thousandths, all else in units. */
export interface Resources {
  cpu: number;
  memory: number;
  ephemeralStorage: number;
  /** Extended resources, huge pages and the like. */
  scalars?: Map<string, number>;
}

type ResourceList = Record<string, string | number> | undefined;

export type RequestingPod = Pick<PodSpec, 'containers' | 'initContainers' | 'overhead' | 'resources'>;

export function noResources(): Resources {
  return { cpu: 0, memory: 0, ephemeralStorage: 0 };
}

export function parseResources(list: ResourceList): Resources {
  const parsed = noResources();
  for (const name in list) {
    const { milli, value } = amountOf(list[name]);
    if (name === 'cpu') parsed.cpu = milli;
    else if (name === 'memory') parsed.memory = value;
    else if (name === 'ephemeral-storage') parsed.ephemeralStorage = value;
    else if (name !== 'pods') (parsed.scalars ??= new Map()).set(name, value);
  }
  return parsed;
}

/** Thousands of Pods ask for the same few amounts. */
const AMOUNTS = new Map<string | number, { milli: number; value: number }>();
const MAX_AMOUNTS = 1000;

function amountOf(text: string | number): { milli: number; value: number } {
  const known = AMOUNTS.get(text);
  if (known) return known;
  const quantity = Quantity.parse(text);
  const amount = { milli: quantity.milliValue(), value: quantity.value() };
  if (AMOUNTS.size >= MAX_AMOUNTS) AMOUNTS.clear();
  AMOUNTS.set(text, amount);
  return amount;
}

export function addTo(total: Resources, more: Resources, sign: 1 | -1 = 1): void {
  total.cpu += sign * more.cpu;
  total.memory += sign * more.memory;
  total.ephemeralStorage += sign * more.ephemeralStorage;
  if (!more.scalars) return;
  const scalars = (total.scalars ??= new Map<string, number>());
  for (const [name, amount] of more.scalars) scalars.set(name, (scalars.get(name) ?? 0) + sign * amount);
}

function raiseTo(total: Resources, least: Resources): void {
  total.cpu = Math.max(total.cpu, least.cpu);
  total.memory = Math.max(total.memory, least.memory);
  total.ephemeralStorage = Math.max(total.ephemeralStorage, least.ephemeralStorage);
  for (const [name, amount] of least.scalars ?? []) {
    const scalars = (total.scalars ??= new Map<string, number>());
    scalars.set(name, Math.max(scalars.get(name) ?? 0, amount));
  }
}

export function copyOf(resources: Resources): Resources {
  return { ...resources, scalars: resources.scalars && new Map(resources.scalars) };
}

/**
 * What a Pod requests: its containers and sidecars together, or more where an init container (with the sidecars started before it) needs
 * more; requests of the Pod as a whole take their place, and the overhead of its runtime comes on top.
 */
export function podRequests(spec: RequestingPod): Resources {
  return totalRequests(spec, (container) => parseResources(container.resources?.requests));
}

/** The same, of what each container is said to request. */
export function totalRequests(
  { containers, initContainers, overhead, resources }: RequestingPod,
  requestsOf: (container: Container) => Resources,
): Resources {
  const total = noResources();
  for (const container of containers) addTo(total, requestsOf(container));
  const sidecars = noResources();
  const peak = noResources();
  for (const container of initContainers ?? []) {
    const requests = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      addTo(total, requests);
      addTo(sidecars, requests);
      raiseTo(peak, sidecars);
    } else {
      addTo(requests, sidecars);
      raiseTo(peak, requests);
    }
  }
  raiseTo(total, peak);
  overrideWith(total, resources?.requests);
  if (overhead) addTo(total, parseResources(overhead));
  return total;
}

function overrideWith(total: Resources, podLevel: ResourceList): void {
  if (!podLevel) return;
  const parsed = parseResources(podLevel);
  if (podLevel.cpu !== undefined) total.cpu = parsed.cpu;
  if (podLevel.memory !== undefined) total.memory = parsed.memory;
  for (const [name, amount] of parsed.scalars ?? []) {
    if (name.startsWith('hugepages-')) (total.scalars ??= new Map<string, number>()).set(name, amount);
  }
}
