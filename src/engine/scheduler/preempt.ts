import type { Client } from '../../client/client.ts';
import { Pod } from '../../client/kinds.ts';
import { isStatusError } from '../../kube/status.ts';
import { formatTime } from '../../kube/time.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import { nextTurn } from '../../runtime/informer/reflector.ts';
import type { Cluster } from './model/cluster.ts';
import type { Cycle, Refusal } from './model/filter.ts';
import type { Diagnosis } from './model/fit-error.ts';
import type { PodInfo } from './model/pod-info.ts';
import {
  bestCandidate,
  enoughCandidates,
  notHelpfulText,
  preemptionNodes,
  victimsOn,
  whyNotEligible,
  type Budget,
  type Candidate,
} from './model/preemption.ts';

/** `text` when nobody has to go or can be made to. `keepsNode`: it waits for those who are leaving already. */
export type PreemptionPlan = { candidate: Candidate; text?: undefined } | { candidate?: undefined; text: string; keepsNode: boolean };

/** Looks for Pods to push away. Takes as many turns of the event loop as it needs. */
export async function planPreemption(
  pod: PodInfo,
  cluster: Cluster,
  cycle: Cycle,
  diagnosis: Diagnosis,
  budgets: () => Budget[],
  turn: { isOver(): boolean },
): Promise<PreemptionPlan> {
  const nominated = cluster.nodes.find(({ name }) => name === pod.pod.status?.nominatedNodeName);
  const reason = whyNotEligible(pod, nominated, nominated && diagnosis.refusals.get(nominated.name));
  if (reason !== undefined) return { text: reason, keepsNode: true };
  const nodes = preemptionNodes(cluster, diagnosis);
  const refusals = new Map<string, Refusal>();
  const candidates: Candidate[] = [];
  const enough = enoughCandidates(nodes.length);
  const known = nodes.length > 0 ? budgets() : [];
  for (const node of nodes) {
    const found = victimsOn(pod, node, cycle, cluster, known);
    if ('victims' in found) candidates.push(found);
    else refusals.set(node.name, found);
    if (candidates.length >= enough && candidates.some(({ violations }) => violations === 0)) break;
    if (turn.isOver()) await nextTurn();
  }
  const candidate = bestCandidate(candidates);
  return candidate ? { candidate } : { text: notHelpfulText(refusals, cluster.nodes.length), keepsNode: false };
}

/** Sends the victims away, each told why. */
export async function evictVictims(
  { client, clock, events }: { client: Client; clock: Clock; events: EventRecorder },
  preemptor: PodInfo,
  { node, victims }: Candidate,
): Promise<void> {
  for (const { pod, namespace, terminating } of victims) {
    if (terminating) continue;
    const { name, uid } = pod.metadata;
    const pods = client.resource(Pod, namespace);
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${preemptor.pod.spec?.schedulerName ?? 'default-scheduler'}: preempting to accommodate a higher priority pod`,
      lastProbeTime: null,
      lastTransitionTime: formatTime(new Date(clock.now())),
    };
    try {
      await pods.status.patch(name!, { type: 'strategic', patch: { metadata: { uid }, status: { conditions: [condition] } } });
      await pods.delete(name!, { preconditions: { uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
      continue;
    }
    const message = `Preempted by pod ${preemptor.pod.metadata.uid} on node ${node.name}`;
    events.record(pod, { type: 'Normal', reason: 'Preempted', action: 'Preempting', message });
  }
}
