import type { RunAffinityTerm, RunAffinityTerms } from '../../../../api/kruntimes.io/v1alpha1/affinity.ts';
import { RUNS_RESOURCE } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunMessage } from '../../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { labelSelectorMatcher, type Labels } from '../../../../kube/label-selector.ts';
import { fits, type ResourceAmounts } from '../../../../api/kruntimes.io/v1alpha1/capacity.ts';
import type { FilterRejection } from '../run-scheduler-metrics.ts';
import { isFresh, type RuntimePod } from './runtime-pod.ts';

/** A Runtime Pod with what is on it. */
export interface PlacedPod {
  pod: RuntimePod;
  used: ResourceAmounts;
  /** Labels of the Runs that hold a place on it. */
  labels: Iterable<Labels>;
}

export type Placement =
  | { pod: RuntimePod }
  /** `full`: no other Run of this Runtime would find a place either. */
  | { message: string; full: boolean; rejection: FilterRejection };

/** Chooses the Pod for a Run: filters, then scores, the name breaking ties. */
export function placeRun(run: Run, requests: ResourceAmounts, pods: Iterable<PlacedPod>, now: number): Placement {
  const { runtime } = run.spec;
  let full = true;
  const open: PlacedPod[] = [];
  const roomy: PlacedPod[] = [];
  for (const candidate of pods) {
    if (!isFresh(candidate.pod, now)) continue;
    open.push(candidate);
    if ((candidate.used.get(RUNS_RESOURCE) ?? 0) < (candidate.pod.capacity.get(RUNS_RESOURCE) ?? 0)) full = false;
    if (fits(requests, candidate.used, candidate.pod.capacity)) roomy.push(candidate);
  }
  if (roomy.length === 0) {
    const reason = open.length === 0 ? 'no_pod' : 'no_capacity';
    return { message: RunMessage.waiting(runtime), full, rejection: { plugin: 'RuntimePodAvailability', reason } };
  }
  const near = requiredAffinity(run, roomy, open);
  if (near.length === 0) {
    return { message: RunMessage.waitingForAffinity(runtime), full: false, rejection: { plugin: 'RunAffinity', reason: 'affinity' } };
  }
  const apart = near.filter(({ labels }) => !anyMatches(run.spec.affinity?.runAntiAffinity, labels));
  if (apart.length === 0) {
    const rejection = { plugin: 'RunAffinity', reason: 'anti_affinity' } as const;
    return { message: RunMessage.waitingForAntiAffinity(runtime), full: false, rejection };
  }
  return { pod: best(run, requests, apart).pod };
}

function required(terms: RunAffinityTerms | undefined): RunAffinityTerm[] {
  return terms?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function matches(term: RunAffinityTerm, labels: Labels): boolean {
  return labelSelectorMatcher(term.labelSelector).matches(labels);
}

function anyMatches(terms: RunAffinityTerms | undefined, all: Iterable<Labels>): boolean {
  const wanted = required(terms);
  if (wanted.length === 0) return false;
  for (const labels of all) if (wanted.some((term) => matches(term, labels))) return true;
  return false;
}

/** Every term needs a matching Run on the Pod; the first of a cohort, which matches its own terms, may begin it anywhere. */
function requiredAffinity(run: Run, candidates: PlacedPod[], open: PlacedPod[]): PlacedPod[] {
  const terms = required(run.spec.affinity?.runAffinity);
  if (terms.length === 0) return candidates;
  const holds = (term: RunAffinityTerm, { labels }: PlacedPod) => [...labels].some((own) => matches(term, own));
  return candidates.filter((candidate) =>
    terms.every((term) => holds(term, candidate) || (matches(term, run.metadata.labels) && !open.some((other) => holds(term, other)))),
  );
}

const FULL_SCORE = 100;

function best(run: Run, requests: ResourceAmounts, candidates: PlacedPod[]): PlacedPod {
  if (candidates.length === 1) return candidates[0];
  const preference = preferenceScores(run, candidates);
  const load = loadScores(requests, candidates);
  let winner = 0;
  for (let i = 1; i < candidates.length; i++) {
    const difference = preference[i] + load[i] - preference[winner] - load[winner];
    if (difference > 0 || (difference === 0 && candidates[i].pod.name < candidates[winner].pod.name)) winner = i;
  }
  return candidates[winner];
}

/** The weights of the preferred terms that a Pod meets, the highest sum counting as 100. */
function preferenceScores(run: Run, candidates: PlacedPod[]): number[] {
  const toward = run.spec.affinity?.runAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const away = run.spec.affinity?.runAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (toward.length + away.length === 0) return candidates.map(() => 0);
  const sums = candidates.map(({ labels }) => {
    const all = [...labels];
    const met = (term: RunAffinityTerm) => all.some((own) => matches(term, own));
    const near = toward.reduce((sum, { weight, runAffinityTerm }) => sum + (met(runAffinityTerm) ? weight : 0), 0);
    return away.reduce((sum, { weight, runAffinityTerm }) => sum + (met(runAffinityTerm) ? 0 : weight), near);
  });
  const most = Math.max(...sums);
  return sums.map((sum) => (most === 0 ? 0 : (sum / most) * FULL_SCORE));
}

/** The least loaded counts as 100, the most as 0, equal ones the same: by the fullest resource, then by the sum. */
function loadScores(requests: ResourceAmounts, candidates: PlacedPod[]): number[] {
  const loads = candidates.map(({ pod, used }) => {
    const shares = [...pod.capacity]
      .filter(([, amount]) => amount > 0)
      .map(([name, amount]) => ((used.get(name) ?? 0) + (requests.get(name) ?? 0)) / amount);
    return { highest: Math.max(0, ...shares), sum: shares.reduce((a, b) => a + b, 0) };
  });
  const compare = (a: { highest: number; sum: number }, b: { highest: number; sum: number }) => a.highest - b.highest || a.sum - b.sum;
  const ranks = [...loads].sort(compare).filter((load, i, sorted) => i === 0 || compare(load, sorted[i - 1]) !== 0);
  if (ranks.length === 1) return candidates.map(() => FULL_SCORE);
  return loads.map((load) => FULL_SCORE * (1 - ranks.findIndex((rank) => compare(rank, load) === 0) / (ranks.length - 1)));
}
