import { capacityOf, requestsOf } from '../../api/kruntimes.io/v1alpha1/capacity.ts';
import { RUNS_RESOURCE, RUNTIME_LABEL } from '../../api/kruntimes.io/v1alpha1/names.ts';
import { RUNTIMED_READY } from '../../api/kruntimes.io/v1alpha1/reasons.ts';
import { holdsCapacity, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { Runtime } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { isConditionTrue, type Condition } from '../../kube/conditions.ts';
import type { KubeObject } from '../../kube/object.ts';

/** How busy a Runtime is. */
export interface RuntimeUsage {
  runtime: string;
  namespace: string;
  /** There are Runs for it, but no such Runtime. */
  isMissing: boolean;
  pods: number;
  readyPods: number;
  /** Places for Runs on Pods that take them, and how many are taken. */
  capacity: number;
  active: number;
  waiting: number;
  /** Of those that wait, in milliseconds. */
  longestWait?: number;
  /** Of Runs that have ended, in milliseconds; the API tells whole seconds. */
  waits: Percentiles | undefined;
  durations: Percentiles | undefined;
}

export interface Percentiles {
  p50: number;
  p95: number;
}

export interface ClusterState {
  runtimes: readonly Runtime[];
  pods: readonly KubeObject[];
  /** Those that have not ended. */
  runs: readonly Run[];
  /** Some that have. */
  finished: readonly Run[];
}

export function runtimeUsages(state: ClusterState, now: number): RuntimeUsage[] {
  const groups = new Map<string, { namespace: string; runtime: string; isMissing: boolean }>();
  const note = (namespace: string, runtime: string, isMissing: boolean): void => {
    const key = `${namespace}/${runtime}`;
    if (!groups.has(key)) groups.set(key, { namespace, runtime, isMissing });
  };
  for (const { metadata } of state.runtimes) note(metadata.namespace!, metadata.name!, false);
  for (const { metadata, spec } of state.runs) note(metadata.namespace!, spec.runtime, true);
  const usages = [...groups.values()].map((group) => usageOf(group, state, now));
  return usages.sort((a, b) => (`${a.namespace}/${a.runtime}` < `${b.namespace}/${b.runtime}` ? -1 : 1));
}

function usageOf(group: { namespace: string; runtime: string; isMissing: boolean }, state: ClusterState, now: number): RuntimeUsage {
  const isOurs = (run: Run) => run.metadata.namespace === group.namespace && run.spec.runtime === group.runtime;
  const pods = state.pods.filter(
    ({ metadata }) => metadata.namespace === group.namespace && metadata.labels?.[RUNTIME_LABEL] === group.runtime,
  );
  const ready = pods.filter(takesRuns);
  const runs = state.runs.filter(isOurs);
  const waiting = runs.filter((run) => phaseOf(run) === 'Pending');
  const oldest = Math.min(...waiting.map((run) => Date.parse(run.metadata.creationTimestamp ?? '')).filter((time) => !Number.isNaN(time)));
  const finished = state.finished.filter(isOurs);
  return {
    ...group,
    pods: pods.length,
    readyPods: ready.length,
    capacity: sum(ready.map((pod) => capacityOf(pod).get(RUNS_RESOURCE) ?? 0)),
    active: sum(runs.filter(holdsCapacity).map(placesOf)),
    waiting: waiting.length,
    ...(Number.isFinite(oldest) ? { longestWait: Math.max(0, now - oldest) } : {}),
    waits: percentiles(finished.map(({ metadata, status }) => between(metadata.creationTimestamp, status?.startTime))),
    durations: percentiles(finished.map(({ status }) => between(status?.startTime, status?.completionTime))),
  };
}

function takesRuns(pod: KubeObject): boolean {
  const conditions = pod.status?.conditions as Condition[] | undefined;
  return (
    pod.metadata.deletionTimestamp === undefined && isConditionTrue(conditions, 'Ready') && isConditionTrue(conditions, RUNTIMED_READY)
  );
}

function placesOf(run: Run): number {
  const requests = requestsOf(run);
  return 'amounts' in requests ? (requests.amounts.get(RUNS_RESOURCE) ?? 1) : 1;
}

function between(start: string | undefined, end: string | undefined): number | undefined {
  return start === undefined || end === undefined ? undefined : Math.max(0, Date.parse(end) - Date.parse(start));
}

export function percentiles(values: readonly (number | undefined)[]): Percentiles | undefined {
  const sorted = values.filter((value) => value !== undefined && !Number.isNaN(value)).sort((a, b) => a! - b!) as number[];
  if (sorted.length === 0) return undefined;
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)];
  return { p50: at(0.5), p95: at(0.95) };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
