import type { Filter, Refusal } from '../filter.ts';
import type { NodeInfo } from '../node-info.ts';
import type { PodInfo } from '../pod-info.ts';

/** Messages are few and asked for often. */
const REASONS = new Map<string, Refusal>();

function refusedFor(reasons: string[], final: boolean): Refusal {
  const id = `${final}${reasons.join()}`;
  const known = REASONS.get(id);
  if (known) return known;
  const made: Refusal = { filter: 'NodeResourcesFit', reasons, final };
  if (REASONS.size < 1000) REASONS.set(id, made);
  return made;
}

/** Whether the Pod's requests fit beside what is there. */
export function fits(pod: PodInfo, node: NodeInfo): boolean {
  return resources.check(pod, node, { spread: undefined, affinity: undefined, volumes: undefined }) === undefined;
}

export const resources: Filter = {
  name: 'NodeResourcesFit',
  check({ requests }, { allocatable, requested, pods, allowedPods }) {
    let reasons: string[] | undefined;
    let final = false;
    const lacks = (reason: string, everything: boolean): void => {
      (reasons ??= []).push(reason);
      final ||= everything;
    };
    if (pods.size + 1 > allowedPods) lacks('Too many pods', false);
    if (requests.cpu > 0 && requests.cpu > allocatable.cpu - requested.cpu) lacks('Insufficient cpu', requests.cpu > allocatable.cpu);
    if (requests.memory > 0 && requests.memory > allocatable.memory - requested.memory) {
      lacks('Insufficient memory', requests.memory > allocatable.memory);
    }
    if (requests.ephemeralStorage > 0 && requests.ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage) {
      lacks('Insufficient ephemeral-storage', requests.ephemeralStorage > allocatable.ephemeralStorage);
    }
    if (requests.scalars) {
      for (const [name, amount] of requests.scalars) {
        const there = allocatable.scalars?.get(name) ?? 0;
        if (amount > 0 && amount > there - (requested.scalars?.get(name) ?? 0)) lacks(`Insufficient ${name}`, amount > there);
      }
    }
    return reasons && refusedFor(reasons, final);
  },
};
