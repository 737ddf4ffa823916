import type { Client } from '../../client/client.ts';
import { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodDisruptionBudget, StorageClass } from '../../client/kinds.ts';
import { storageClassOf } from '../../kube/volume-matching.ts';
import { longLivedController } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import { EventRecorder } from '../../runtime/event-recorder.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { ClusterCache } from './cluster-cache.ts';
import { budgetOf } from './model/preemption.ts';
import { podEvents } from './pod-events.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { Scheduler } from './scheduler.ts';
import { schedulerMetrics } from './scheduler-metrics.ts';
import { slimPod } from './slim-pod.ts';
import { StatusWriter } from './status-writer.ts';
import { differ, labelsChanged, nodeAdded, nodeChanged, nodeRemoved, volumesChanged } from './wake-ups.ts';

export interface SchedulerStart {
  /** With the rights of kube-scheduler. */
  client: Client;
  clock: Clock;
  log: Log;
  metrics?: MetricsRegistry;
  /** Stops it, like `stop`. */
  signal?: AbortSignal;
  /** Whose Pods are scheduled; `default-scheduler`. */
  name?: string;
  /** Breaks ties between nodes. */
  random?: () => number;
}

/** Gives Pods their nodes. Returns at once; it begins when its first lists are in. */
export function startScheduler(options: SchedulerStart): { stop(): Promise<void> } {
  const { client, clock, log, name = 'default-scheduler', random = Math.random } = options;
  const abort = longLivedController(options.signal);
  const { signal } = abort;
  const informers = new SharedInformers({ client, log, signal });
  const events = new EventRecorder({ client, log, controller: name, instance: name });
  const watched = watch(informers);
  const { nodes, pods, namespaces, claims, volumes, classes, budgets } = watched;

  const queue = new SchedulingQueue(clock);
  const writer = new StatusWriter({ client, clock, log, events });
  const cache = new ClusterCache({
    namespaceLabels: (namespace) => namespaces.get(namespace)?.metadata.labels ?? (namespaces.get(namespace) && {}),
    volumes: {
      claim: (namespace, claim) => claims.find(namespace, claim),
      volume: (volume) => volumes.get(volume),
      storageClass: (storageClass) => classes.get(storageClass),
      volumesOfClass: (storageClass) => volumes.byIndex('class', storageClass),
    },
  });

  nodes.onChange((change) => {
    if (change.type === 'deleted') cache.removeNode(change.object.metadata.name!);
    else cache.setNode(change.object);
    const mayHelp =
      change.type === 'modified' ? nodeChanged(change.previous, change.object) : change.type === 'added' ? nodeAdded : nodeRemoved;
    if (mayHelp) queue.wake(mayHelp);
  });
  pods.onChange(
    podEvents({
      cache,
      queue,
      schedulerName: name,
      onKnownFailure: (info, { text }) => writer.tell({ info, reason: 'Unschedulable', message: text }, false),
      onNoLongerWaiting: (key) => writer.forget(key),
    }),
  );
  namespaces.onChange((change) => {
    if (change.type === 'modified' && differ(change.previous.metadata.labels, change.object.metadata.labels)) queue.wake(labelsChanged);
  });
  for (const informer of [claims, volumes, classes]) informer.onChange(() => queue.wake(volumesChanged));

  const scheduler = new Scheduler({
    client,
    clock,
    log,
    random,
    cache,
    queue,
    writer,
    events,
    metrics: schedulerMetrics(options.metrics, () => queue.counts()),
    budgets: () => [...budgets.list()].map(budgetOf),
    binding: { client, clock, claims, signal },
    signal,
  });
  const running = informers.whenSynced(signal).then(
    () => scheduler.run(),
    () => {},
  );

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      abort.abort();
      queue.close();
      await Promise.all([running, writer.stop(), informers.stop()]);
      await events.flush();
    })());
  signal.addEventListener('abort', () => void stop(), { once: true });
  return { stop };
}

function watch(informers: SharedInformers) {
  const volumes = informers.get(PersistentVolume);
  volumes.addIndex('class', (volume) => [storageClassOf(volume)]);
  return {
    nodes: informers.get(Node),
    // Pods that have ended hold no room.
    pods: informers.get(Pod, { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed', transform: slimPod }),
    namespaces: informers.get(Namespace, { metadataOnly: true }),
    claims: informers.get(PersistentVolumeClaim),
    volumes,
    classes: informers.get(StorageClass),
    budgets: informers.get(PodDisruptionBudget),
  };
}
