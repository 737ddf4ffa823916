import { Node, Pod } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { BY_NODE } from '../node-lifecycle/node-lifecycle.controller.ts';
import { podInformer } from '../workload/informers.ts';

/** How long a node that Pods name may be missing: it may be about to register. */
const QUARANTINE_MS = 40_000;
/** Finished Pods that are kept for people to look at. */
const KEPT_FINISHED = 12_500;
/** No Pod has this key. */
const FINISHED = '(finished)';

/** Pods that nobody else will remove: those of nodes that are gone, and the oldest of too many finished ones. Keys are Pods. */
export function podGcController(environment: Environment, options: { keptFinished?: number } = {}): Running {
  const { client, clock, log, metrics, informers } = environment;
  const { keptFinished = KEPT_FINISHED } = options;
  const nodes = informers.get(Node);
  const pods = podInformer(environment);
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  const finished = new Set<string>();
  /** Since when nodes are missed. */
  const missing = new Map<string, number>();

  const controller = new Controller({
    name: 'pod-gc',
    clock,
    log,
    metrics,
    async reconcile(key, { signal }) {
      if (key === FINISHED) return removeFinished(signal);
      const pod = pods.get(key);
      const name: string | undefined = pod?.spec?.nodeName;
      if (!pod || !name || nodes.get(name)) return undefined;
      const since = missing.get(name) ?? clock.monotonic();
      missing.set(name, since);
      const left = since + QUARANTINE_MS - clock.monotonic();
      // A timer, because a node that does not come is nothing that a watch could see.
      if (left > 0) return { afterMs: left };
      if (await exists(name, signal)) return undefined;
      await removeOrphan(pod, signal);
      return undefined;
    },
  });

  const exists = async (node: string, signal: AbortSignal): Promise<boolean> => {
    try {
      await client.resource(Node).get(node, { signal });
      return true;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return false;
      throw error;
    }
  };

  const removeOrphan = async (pod: KubeObject, signal: AbortSignal): Promise<void> => {
    const { name, namespace, uid } = pod.metadata;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      lastTransitionTime: formatTime(new Date(clock.now())),
    };
    const phase = isFinished(pod) ? pod.status.phase : 'Failed';
    try {
      const patch = { metadata: { uid }, status: { phase, conditions: [condition] } };
      await client.resource(Pod, namespace).status.patch(name!, { type: 'strategic', patch }, { signal });
      await remove(pod, signal);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  };

  const remove = async ({ metadata: { name, namespace, uid } }: KubeObject, signal: AbortSignal): Promise<void> => {
    try {
      await client.resource(Pod, namespace).delete(name!, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  };

  const removeFinished = async (signal: AbortSignal): Promise<undefined> => {
    const surplus = finished.size - keptFinished;
    if (surplus <= 0) return;
    const oldest = [...finished]
      .flatMap((key) => pods.get(key) ?? [])
      .sort((a, b) => Date.parse(a.metadata.creationTimestamp ?? '') - Date.parse(b.metadata.creationTimestamp ?? ''));
    for (const pod of oldest.slice(0, surplus)) await remove(pod, signal);
  };

  return controller
    .watch(pods, ({ type, object }) => {
      const key = keyOf(object);
      if (type === 'deleted') {
        finished.delete(key);
        return [];
      }
      if (isFinished(object)) finished.add(key);
      const keys = finished.size > keptFinished ? [FINISHED] : [];
      return object.spec?.nodeName && !nodes.get(object.spec.nodeName) ? [...keys, key] : keys;
    })
    .watch(nodes, ({ type, object }) => {
      const name = object.metadata.name!;
      if (type === 'deleted') return pods.byIndex(BY_NODE, name).map(keyOf);
      missing.delete(name);
      return [];
    })
    .start();
}

function isFinished({ status }: KubeObject): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
