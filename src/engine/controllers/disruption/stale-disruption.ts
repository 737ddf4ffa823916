import { Pod } from '../../../client/kinds.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { formatTime } from '../../../kube/time.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { isTerminal } from '../workload/model/pod-state.ts';
import { writeStatus } from '../workload/write-status.ts';

const STALE_AFTER_MS = 2 * 60_000;

/** A Pod that was marked for disruption and lives on is not a target any more. */
export function staleDisruptionController({ client, clock, log, metrics }: Environment, pods: Informer): Running {
  return new Controller({
    name: 'stale-disruption',
    clock,
    log,
    metrics,
    async reconcile(key) {
      const pod = pods.get(key);
      const left = pod && staleIn(pod, clock.now());
      if (left === undefined) return undefined;
      // A timer: a deletion that does not come changes nothing.
      if (left > 0) return { afterMs: left };
      await writeStatus(client, Pod, pod!, { ...pod!.status, conditions: withoutTarget(pod!, clock.now()) });
      return undefined;
    },
  })
    .watch(pods, ({ type, object }) => (type !== 'deleted' && target(object) ? [keyOf(object)] : []))
    .start();
}

/** Milliseconds until the mark is stale; undefined when there is none. */
export function staleIn(pod: KubeObject, now: number): number | undefined {
  const mark = target(pod);
  return mark && Math.max(0, Date.parse(mark.lastTransitionTime) + STALE_AFTER_MS - now);
}

function target(pod: KubeObject): Json {
  if (pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return undefined;
  const mark = (pod.status?.conditions ?? []).find((one: Json) => one.type === 'DisruptionTarget' && one.status === 'True');
  return mark?.reason === 'TerminationByKubelet' ? undefined : mark;
}

function withoutTarget(pod: KubeObject, now: number): Json[] {
  const lastTransitionTime = formatTime(new Date(now));
  return pod.status.conditions.map((one: Json) =>
    one.type === 'DisruptionTarget' ? { type: one.type, status: 'False', lastTransitionTime } : one,
  );
}
