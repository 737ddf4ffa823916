import type { KubeObject } from '../../../kube/object.ts';
import { podFromTemplate, type NewObject } from '../workload/model/pod-from-template.ts';
import { allAtOnce, slowStart } from '../workload/slow-start.ts';
import { podsToDelete } from './model/deletion-order.ts';

/** At most so many Pods are created or deleted in one pass. */
const BURST = 500;

export interface ReplicaPorts {
  create(pod: NewObject): Promise<void>;
  delete(pod: KubeObject): Promise<void>;
  /** Pods of sets with the same controller: those that share a node with them go first. */
  related(): KubeObject[];
}

/** Creates or deletes until the number is right. @returns the first failure. */
export async function manageReplicas(set: KubeObject, active: readonly KubeObject[], ports: ReplicaPorts, now: number): Promise<unknown> {
  const wanted: number = set.spec.replicas ?? 1;
  if (active.length < wanted) {
    return slowStart(Math.min(wanted - active.length, BURST), () => ports.create(podFromTemplate(set.spec.template, set)));
  }
  if (active.length === wanted) return undefined;
  const doomed = podsToDelete(active, ports.related(), Math.min(active.length - wanted, BURST), now);
  return allAtOnce(doomed.length, (i) => ports.delete(doomed[i]));
}
