import { Lease, Node, Pod } from '../../../client/kinds.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { podInformer } from '../workload/informers.ts';
import { GRACE_MS, readyStatus, silentConditions, STARTUP_GRACE_MS, taintsFor, type NodeObject } from './assess-node.ts';

const LEASES = 'kube-node-lease';
export const BY_NODE = 'node';

/** Nodes that fall silent are marked, tainted as their conditions say, and their Pods no longer count as ready. Keys are nodes. */
export function nodeLifecycleController(environment: Environment): Running {
  const { client, clock, log, metrics, informers, events } = environment;
  const nodes = informers.get(Node);
  const leases = informers.get(Lease, { namespace: LEASES });
  const pods = podInformer(environment);
  pods.addIndex(BY_NODE, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []));
  /** When each node was last heard of, by our own clock: theirs may be wrong. */
  const heard = new Map<string, number>();
  const wereReady = new Set<string>();

  const controller = new Controller({
    name: 'node-lifecycle',
    clock,
    log,
    metrics,
    concurrency: 4,
    async reconcile(name, { signal }) {
      const node = nodes.get(name);
      if (!node || node.metadata.deletionTimestamp !== undefined) return undefined;
      const left = graceLeft(node);
      const silent = left <= 0 ? silentConditions(node, clock.now()) : undefined;
      const current = silent ? await writeConditions(node, silent, signal) : node;
      const taints = taintsFor(current, clock.now());
      if (taints) {
        const { resourceVersion } = current.metadata;
        await client.resource(Node).patch(name, { type: 'merge', patch: { metadata: { resourceVersion }, spec: { taints } } }, { signal });
      }
      const ready = readyStatus(current);
      // A node that still reports corrects its Pods itself: it is overruled once, when it stops being ready.
      if (ready === 'Unknown' || (ready === 'False' && wereReady.has(name))) await markPodsNotReady(name, signal);
      if (ready === 'True') wereReady.add(name);
      else wereReady.delete(name);
      // A timer, because silence is what no watch reports.
      return left > 0 ? { afterMs: left } : undefined;
    },
  });

  const graceLeft = (node: NodeObject): number => {
    const grace = readyStatus(node) === undefined ? STARTUP_GRACE_MS : GRACE_MS;
    return (heard.get(node.metadata.name!) ?? clock.monotonic()) + grace - clock.monotonic();
  };

  const writeConditions = async (node: NodeObject, conditions: unknown[], signal: AbortSignal): Promise<NodeObject> => {
    const { name, resourceVersion } = node.metadata;
    const patch = { metadata: { resourceVersion }, status: { conditions } };
    const written = await client.resource(Node).status.patch(name!, { type: 'merge', patch }, { signal });
    if (readyStatus(node) === 'True') {
      events.record(node, { type: 'Normal', reason: 'NodeNotReady', message: `Node ${name} status is now: NodeNotReady` });
    }
    return written;
  };

  const markPodsNotReady = async (node: string, signal: AbortSignal): Promise<void> => {
    for (const pod of pods.byIndex(BY_NODE, node)) {
      if (!isConditionTrue(pod.status?.conditions, 'Ready')) continue;
      const condition = { type: 'Ready', status: 'False', lastTransitionTime: formatTime(new Date(clock.now())) };
      const { name, namespace, uid } = pod.metadata;
      try {
        const patch = { metadata: { uid }, status: { conditions: [condition] } };
        await client.resource(Pod, namespace).status.patch(name!, { type: 'strategic', patch }, { signal });
        events.record(pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
      } catch (error) {
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
      }
    }
  };

  const nodeEvent = (node: NodeObject, reason: string, message: string): void =>
    events.record(node, { type: 'Normal', reason, message: `Node ${node.metadata.name} event: ${message}` });
  const hear = (name: string): void => void heard.set(name, clock.monotonic());
  return controller
    .watch(nodes, (change) => {
      const { name } = change.object.metadata;
      if (change.type === 'deleted') {
        heard.delete(name!);
        wereReady.delete(name!);
        nodeEvent(change.object, 'RemovingNode', `Removing Node ${name} from Controller`);
      } else if (change.type === 'added') {
        hear(name!);
        nodeEvent(change.object, 'RegisteredNode', `Registered Node ${name} in Controller`);
      } else if (heartbeat(change.object) !== heartbeat(change.previous)) hear(name!);
      return [name!];
    })
    .watch(leases, (change) => {
      const { name } = change.object.metadata;
      if (change.type === 'deleted' || !nodes.get(name!)) return [];
      const renewed = change.type === 'added' || change.previous.spec?.renewTime !== change.object.spec?.renewTime;
      if (renewed) hear(name!);
      return [];
    })
    .start();
}

function heartbeat({ status }: NodeObject): string {
  return (status?.conditions ?? []).map(({ type, lastHeartbeatTime }) => `${type}=${lastHeartbeatTime ?? ''}`).join();
}
