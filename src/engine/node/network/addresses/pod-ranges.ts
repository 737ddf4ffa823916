import { ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';

/** Ranges for Pods, in the order of preference. */
export const POD_RANGES: readonly string[] = [
  ...Array.from({ length: 11 }, (_, i) => `10.${244 + i}.0.0/16`),
  ...Array.from({ length: 8 }, (_, i) => `172.${24 + i}.0.0/16`),
];

/** The first range that nothing on the machine uses. */
export function chooseRange(candidates: readonly string[], taken: readonly string[]): string {
  const used = taken.map(ipv4Range);
  const free = candidates.find((candidate) => !used.some((range) => overlap(range, ipv4Range(candidate))));
  if (free === undefined) {
    throw new Error(`Cannot choose addresses for Pods: all of ${candidates.join(', ')} are in use; name a free range with podCidr`);
  }
  return free;
}
