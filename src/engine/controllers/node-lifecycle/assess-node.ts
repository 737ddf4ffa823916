import type { Node } from '../../../client/kinds.ts';
import type { NodeCondition, Taint } from '../../../kube/generated/core-v1.ts';
import { formatTime } from '../../../kube/time.ts';

export type NodeObject = NonNullable<(typeof Node)['objectType']>;

/** After so long without a sign of life nothing is known of a node. A new one may take longer for its first. */
export const GRACE_MS = 40_000;
export const STARTUP_GRACE_MS = 60_000;

const REPORTED = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** Which taint says what condition. */
const TAINTS: readonly { condition: string; status: string; key: string }[] = [
  { condition: 'Ready', status: 'False', key: NOT_READY },
  { condition: 'Ready', status: 'Unknown', key: UNREACHABLE },
  { condition: 'MemoryPressure', status: 'True', key: 'node.kubernetes.io/memory-pressure' },
  { condition: 'DiskPressure', status: 'True', key: 'node.kubernetes.io/disk-pressure' },
  { condition: 'PIDPressure', status: 'True', key: 'node.kubernetes.io/pid-pressure' },
  { condition: 'NetworkUnavailable', status: 'True', key: 'node.kubernetes.io/network-unavailable' },
];
const CORDONED = 'node.kubernetes.io/unschedulable';
const OWN_NO_SCHEDULE = new Set([...TAINTS.map(({ key }) => key), CORDONED]);
const OWN_NO_EXECUTE = new Set([NOT_READY, UNREACHABLE]);

/** What the conditions of a silent node become; undefined when they already say so. */
export function silentConditions(node: NodeObject, now: number): NodeCondition[] | undefined {
  const conditions = [...(node.status?.conditions ?? [])];
  const time = formatTime(new Date(now));
  let changed = false;
  for (const type of REPORTED) {
    const index = conditions.findIndex((condition) => condition.type === type);
    if (index < 0) {
      const lastHeartbeatTime = node.metadata.creationTimestamp;
      conditions.push({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime,
        lastTransitionTime: time,
      });
    } else if (conditions[index].status === 'Unknown') continue;
    else {
      conditions[index] = {
        ...conditions[index],
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: time,
      };
    }
    changed = true;
  }
  return changed ? conditions : undefined;
}

/** The taints that the node's conditions call for, others left alone; undefined when they are there already. */
export function taintsFor({ spec, status }: NodeObject, now: number): Taint[] | undefined {
  const current = spec?.taints ?? [];
  const wanted: Taint[] = [];
  const statusOf = (type: string): string | undefined => status?.conditions?.find((condition) => condition.type === type)?.status;
  const timeAdded = formatTime(new Date(now));
  for (const { condition, status: state, key } of TAINTS) {
    if (statusOf(condition) !== state) continue;
    wanted.push({ key, effect: 'NoSchedule' });
    if (OWN_NO_EXECUTE.has(key)) wanted.push({ key, effect: 'NoExecute', timeAdded });
  }
  if (spec?.unschedulable) wanted.push({ key: CORDONED, effect: 'NoSchedule' });

  // Of a node that has said nothing yet nobody can tell whether its Pods may stay.
  const isOpen = (taint: Taint): boolean => taint.effect === 'NoExecute' && statusOf('Ready') === undefined;
  const kept = current.filter((taint) => !isOwn(taint) || isOpen(taint) || wanted.some((other) => isSame(taint, other)));
  const added = wanted.filter((taint) => !current.some((other) => isSame(taint, other)));
  return added.length === 0 && kept.length === current.length ? undefined : [...kept, ...added];
}

function isOwn({ key, effect }: Taint): boolean {
  return (effect === 'NoSchedule' && OWN_NO_SCHEDULE.has(key)) || (effect === 'NoExecute' && OWN_NO_EXECUTE.has(key));
}

function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

export function readyStatus({ status }: NodeObject): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}
