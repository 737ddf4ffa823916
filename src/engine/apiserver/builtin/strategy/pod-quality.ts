import type { Json } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';

const COUNTED = ['cpu', 'memory'] as const;

type Totals = Map<string, Quantity>;

/** The quality of service class of a Pod, from what its containers request and are limited to. */
export function qualityOfService(spec: Json): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const holders: Json[] = spec.resources ? [spec] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const requests: Totals = new Map();
  const limits: Totals = new Map();
  let limitsComplete = true;
  for (const { resources } of holders) {
    addUp(requests, resources?.requests);
    if (addUp(limits, resources?.limits) < COUNTED.length) limitsComplete = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isGuaranteed =
    limitsComplete && requests.size === limits.size && [...requests].every(([name, sum]) => isSame(limits.get(name), sum));
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function isSame(limit: Quantity | undefined, request: Quantity): boolean {
  return limit !== undefined && limit.compare(request) === 0;
}

/** Adds the positive amounts to the totals; says how many there were. */
function addUp(totals: Totals, amounts: Json): number {
  let found = 0;
  for (const name of COUNTED) {
    if (amounts?.[name] === undefined) continue;
    const amount = Quantity.parse(amounts[name]);
    if (amount.sign <= 0) continue;
    totals.set(name, totals.get(name)?.add(amount) ?? amount);
    found += 1;
  }
  return found;
}
