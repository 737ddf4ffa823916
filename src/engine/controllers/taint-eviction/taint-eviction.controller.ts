import { Node, Pod } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { BY_NODE } from '../node-lifecycle/node-lifecycle.controller.ts';
import { podInformer } from '../workload/informers.ts';
import { evictionTime } from './eviction-time.ts';

/** Pods leave nodes with NoExecute taints when they do not tolerate them, or no longer. Keys are Pods. */
export function taintEvictionController(environment: Environment): Running {
  const { client, clock, log, metrics, informers, events } = environment;
  const nodes = informers.get(Node);
  const pods = podInformer(environment);
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  const isTainted = (name: string | undefined): boolean =>
    name !== undefined && (nodes.get(name)?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') ?? false);

  const controller = new Controller({
    name: 'taint-eviction',
    clock,
    log,
    metrics,
    concurrency: 4,
    async reconcile(key, { signal }) {
      const pod = pods.get(key);
      if (!pod || pod.metadata.deletionTimestamp !== undefined || !isTainted(pod.spec?.nodeName)) return undefined;
      const now = clock.now();
      const time = evictionTime(nodes.get(pod.spec.nodeName)?.spec?.taints ?? [], pod.spec.tolerations ?? [], now);
      if (time === undefined) return undefined;
      // A timer, because time passing changes nothing that a watch could see.
      if (time > now) return { afterMs: time - now };
      const { name, namespace, uid } = pod.metadata;
      const resource = client.resource(Pod, namespace);
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
        lastTransitionTime: formatTime(new Date(now)),
      };
      try {
        events.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message: `Marking for deletion Pod ${key}` });
        await resource.status.patch(
          name!,
          { type: 'strategic', patch: { metadata: { uid }, status: { conditions: [condition] } } },
          { signal },
        );
        await resource.delete(name!, { preconditions: { uid }, signal });
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
      return undefined;
    },
  });
  return controller
    .watch(pods, ({ type, object }) => (type !== 'deleted' && isTainted(object.spec?.nodeName) ? [keyOf(object)] : []))
    .watch(nodes, ({ type, object }) => {
      const { name } = object.metadata;
      return type !== 'deleted' && isTainted(name) ? pods.byIndex(BY_NODE, name!).map(keyOf) : [];
    })
    .start();
}
