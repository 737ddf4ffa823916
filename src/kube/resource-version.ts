const NUMBER = /^\d+$/;

/**
 * Below 0 when `a` is the older one, 0 when they are the same. Resource versions count upwards in every Kubernetes there is; of other texts nothing
 * is known: undefined.
 */
export function versionOrder(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined || !NUMBER.test(a) || !NUMBER.test(b)) return undefined;
  const difference = BigInt(a) - BigInt(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
