import { CAPACITY_ANNOTATION_PREFIX, DEFAULT_RUNS_CAPACITY, RUNS_RESOURCE } from './names.ts';
import type { Run } from './run.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Quantity, QuantityError } from '../../../kube/quantity.ts';

/** Logical resources are whole numbers: places, licences, tokens. */
export type ResourceAmounts = ReadonlyMap<string, number>;

/** What a Run takes of its Pod. Every Run takes at least one of `runs`. @returns the name of a resource whose amount makes no sense */
export function requestsOf(run: Run): { amounts: ResourceAmounts } | { invalid: string } {
  const amounts = new Map<string, number>([[RUNS_RESOURCE, 1]]);
  for (const [name, value] of Object.entries(run.spec.resources?.requests ?? {})) {
    const amount = wholeNumber(value);
    if (amount === undefined) return { invalid: name };
    if (name === RUNS_RESOURCE && amount === 0) continue;
    if (amount > 0) amounts.set(name, amount);
  }
  return { amounts };
}

/** What a Runtime Pod says it has, by its annotations. Nothing is assumed besides some `runs`. */
export function capacityOf(pod: KubeObject): ResourceAmounts {
  const amounts = new Map<string, number>([[RUNS_RESOURCE, DEFAULT_RUNS_CAPACITY]]);
  for (const [key, value] of Object.entries(pod.metadata.annotations ?? {})) {
    if (!key.startsWith(CAPACITY_ANNOTATION_PREFIX)) continue;
    const amount = wholeNumber(value);
    if (amount !== undefined) amounts.set(key.slice(CAPACITY_ANNOTATION_PREFIX.length), amount);
  }
  return amounts;
}

export function fits(requests: ResourceAmounts, used: ResourceAmounts, capacity: ResourceAmounts): boolean {
  for (const [name, amount] of requests) {
    if ((used.get(name) ?? 0) + amount > (capacity.get(name) ?? 0)) return false;
  }
  return true;
}

/** A quantity that is a whole number, not negative: `2`, `1k`, `2e3`. */
function wholeNumber(text: string | number): number | undefined {
  try {
    const quantity = Quantity.parse(text);
    const value = quantity.value();
    const isWhole = Quantity.of(value).compare(quantity) === 0;
    return isWhole && value >= 0 && Number.isSafeInteger(value) ? value : undefined;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}
