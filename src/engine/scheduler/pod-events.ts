import type { Change } from '../../runtime/informer/informer.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { podInfo, type PodInfo, type PodObject } from './model/pod-info.ts';
import type { ClassFailure } from './queue/pod-class.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import { differ, labelsChanged, podCame, podLeft, promiseWithdrawn } from './wake-ups.ts';

export interface PodEventsOptions {
  cache: ClusterCache;
  queue: SchedulingQueue;
  /** Whose Pods are scheduled here. */
  schedulerName: string;
  /** A newcomer that cannot run, as is known from others like it. */
  onKnownFailure(info: PodInfo, failure: ClassFailure): void;
  onNoLongerWaiting(key: string): void;
}

/** Keeps cache and queue in line with the Pods of the server. */
export function podEvents(options: PodEventsOptions): (change: Change<PodObject>) => void {
  const { cache, queue, schedulerName } = options;

  const leaves = (key: string): void => {
    const info = cache.placed(key);
    const node = cache.unplace(key);
    if (info) queue.wake(podLeft(info, node));
  };

  const stopsWaiting = (key: string): void => {
    queue.remove(key);
    options.onNoLongerWaiting(key);
    if (cache.withdraw(key)) queue.wake(promiseWithdrawn);
  };

  const isOnNode = (pod: PodObject): void => {
    const info = podInfo(pod);
    const before = cache.placed(info.key);
    const assumed = cache.isAssumed(info.key);
    cache.place(info, pod.spec!.nodeName!);
    queue.remove(info.key);
    options.onNoLongerWaiting(info.key);
    if (!before) queue.wake(podCame(info, cache.namespaceLabels));
    else if (!assumed) wakeByDifference(before, info);
  };

  const wakeByDifference = (before: PodInfo, after: PodInfo): void => {
    if (differ(before.labels, after.labels) || before.terminating !== after.terminating) queue.wake(labelsChanged);
    if (differ(before.pod.spec?.containers, after.pod.spec?.containers)) {
      queue.wake(podLeft(after, cache.node(after.pod.spec!.nodeName!)));
    }
  };

  const waits = (pod: PodObject): void => {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    // On its way to a node: this is older news.
    if (cache.isAssumed(key)) return;
    const info = podInfo(withPromise(pod, cache.nomination(key)));
    if (info.pod.status?.nominatedNodeName) cache.nominate(info, info.pod.status.nominatedNodeName);
    const failure = queue.add(info);
    if (failure) options.onKnownFailure(info, failure);
  };

  return (change) => {
    const { type, object } = change;
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    // Somebody took the promise back.
    if (type === 'modified' && change.previous.status?.nominatedNodeName && !object.status?.nominatedNodeName) cache.withdraw(key);
    if (type === 'deleted') {
      stopsWaiting(key);
      leaves(key);
    } else if (object.spec?.nodeName) isOnNode(object);
    else if (isWaiting(object, schedulerName)) waits(object);
    else stopsWaiting(key);
  };
}

function isWaiting({ metadata, spec }: PodObject, schedulerName: string): boolean {
  if (metadata.deletionTimestamp !== undefined || (spec?.schedulingGates?.length ?? 0) > 0) return false;
  return (spec?.schedulerName ?? 'default-scheduler') === schedulerName;
}

/** Our promise may not have reached the server when we hear of the Pod. */
function withPromise(pod: PodObject, node: string | undefined): PodObject {
  return node === undefined || pod.status?.nominatedNodeName ? pod : { ...pod, status: { ...pod.status, nominatedNodeName: node } };
}
