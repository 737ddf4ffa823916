import type { KubeObject } from '../../../../kube/object.ts';
import { evaluatePod, reasonsText } from './evaluate.ts';
import { levelVersionText, type LevelVersion } from './policy.ts';

const MAX_PODS = 3000;
/** Of a label change, which may look at thousands of pods, no more of the event loop than this in one go. */
const SLICE_MS = 5;

export interface PodCheckOptions {
  isExempt: (pod: KubeObject) => boolean;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Lets other work of the process go on. */
  pause: () => Promise<void>;
  /** The whole check takes no longer than this. */
  budgetMs: number;
}

/** What to warn of when a namespace begins to enforce a level that pods in it violate. */
export async function existingPodWarnings(
  namespace: string,
  pods: KubeObject[],
  enforce: LevelVersion,
  options: PodCheckOptions,
): Promise<string[]> {
  const candidates = oneOfEachControllerFirst(pods.filter((pod) => !options.isExempt(pod)));
  const byReasons = new Map<string, { first: string; count: number }>();
  const checked = await collect(candidates.slice(0, MAX_PODS), enforce, byReasons, options);
  const warnings: string[] = [];
  if (checked < candidates.length) {
    warnings.push(`new PodSecurity enforce level only checked against the first ${checked} of ${candidates.length} existing pods`);
  }
  if (byReasons.size > 0) {
    warnings.push(`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelVersionText(enforce)}"`);
  }
  const findings = [...byReasons].map(([reasons, { first, count }]) => `${first}${othersText(count - 1)}: ${reasons}`);
  return [...warnings, ...findings.sort()];
}

async function collect(
  pods: KubeObject[],
  enforce: LevelVersion,
  byReasons: Map<string, { first: string; count: number }>,
  { now, pause, budgetMs }: PodCheckOptions,
): Promise<number> {
  const started = now();
  let sliceStart = started;
  for (const [index, pod] of pods.entries()) {
    const violations = evaluatePod(enforce, pod.metadata, pod.spec);
    if (violations.length > 0) {
      const seen = byReasons.get(reasonsText(violations));
      const name = pod.metadata.name!;
      if (!seen) byReasons.set(reasonsText(violations), { first: name, count: 1 });
      else {
        seen.count++;
        if (name < seen.first) seen.first = name;
      }
    }
    const time = now();
    if (time - started > budgetMs) return index + 1;
    if (time - sliceStart > SLICE_MS) {
      await pause();
      sliceStart = now();
    }
  }
  return pods.length;
}

/** Replicas look alike: one pod of each controller is checked before the others. */
function oneOfEachControllerFirst(pods: KubeObject[]): KubeObject[] {
  const seen = new Set<string>();
  const first: KubeObject[] = [];
  const rest: KubeObject[] = [];
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller)?.uid;
    if (controller !== undefined && seen.has(controller)) rest.push(pod);
    else first.push(pod);
    if (controller !== undefined) seen.add(controller);
  }
  return [...first, ...rest];
}

function othersText(others: number): string {
  if (others === 0) return '';
  return others === 1 ? ' (and 1 other pod)' : ` (and ${others} other pods)`;
}
