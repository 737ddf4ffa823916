import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kube/volume-objects.ts';
import {
  findVolume,
  isFullyBound,
  NO_PROVISIONER,
  reaches,
  SELECTED_NODE,
  storageClassOf,
  waitsForConsumer,
} from '../../../kube/volume-matching.ts';
import { refusal, type Refusal } from './filter.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';

/** Claims, volumes and classes as they are now. */
export interface VolumeView {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  volumesOfClass(name: string): Iterable<PersistentVolume>;
}

/** What has to happen to a claim before its Pod may be bound to the chosen node. */
export type ClaimStep =
  | { claim: PersistentVolumeClaim; volume: PersistentVolume }
  /** Somebody has to make a volume there. */
  | { claim: PersistentVolumeClaim; volume?: undefined };

const UNREACHABLE = refusal('VolumeBinding', "node(s) didn't match PersistentVolume's node affinity", true);
const NONE_TO_BIND = refusal('VolumeBinding', "node(s) didn't find available persistent volumes to bind", true);
const VOLUME_GONE = refusal('VolumeBinding', 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)', true);

/** The volumes of one Pod, seen from every node. */
export class PodVolumes {
  #view: VolumeView;
  #bound: PersistentVolumeClaim[];
  #waiting: PersistentVolumeClaim[];

  private constructor(view: VolumeView, bound: PersistentVolumeClaim[], waiting: PersistentVolumeClaim[]) {
    this.#view = view;
    this.#bound = bound;
    this.#waiting = waiting;
  }

  /** Text when no node can help, whichever it is; undefined when the Pod has no claims. */
  static of(pod: PodInfo, view: VolumeView): PodVolumes | string | undefined {
    if (pod.claims.length === 0) return undefined;
    const bound: PersistentVolumeClaim[] = [];
    const waiting: PersistentVolumeClaim[] = [];
    let immediate = false;
    for (const name of pod.claims) {
      const claim = view.claim(pod.namespace, name);
      if (!claim) return `persistentvolumeclaim "${name}" not found`;
      if (claim.status?.phase === 'Lost') {
        return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`;
      }
      if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
      if (isFullyBound(claim)) bound.push(claim);
      else if (!claim.spec?.volumeName && waitsForConsumer(view.storageClass(storageClassOf(claim)))) waiting.push(claim);
      else immediate = true;
    }
    return immediate ? 'pod has unbound immediate PersistentVolumeClaims' : new PodVolumes(view, bound, waiting);
  }

  check(node: NodeInfo): Refusal | undefined {
    for (const claim of this.#bound) {
      const volume = this.#view.volume(claim.spec!.volumeName!);
      if (!volume) return VOLUME_GONE;
      if (!reaches(node, volume)) return UNREACHABLE;
    }
    return this.#waiting.length > 0 && !this.steps(node) ? NONE_TO_BIND : undefined;
  }

  /** How the claims that wait get their volumes on this node; undefined when they cannot. */
  steps(node: NodeInfo): ClaimStep[] | undefined {
    const steps: ClaimStep[] = [];
    const taken = new Set<string>();
    for (const claim of this.#waiting) {
      const selected = claim.metadata.annotations?.[SELECTED_NODE];
      if (selected !== undefined && selected !== node.name) return undefined;
      const name = storageClassOf(claim);
      const volume = findVolume(claim, this.#view.volumesOfClass(name), { node, excluded: taken });
      if (volume) {
        taken.add(volume.metadata.name!);
        steps.push({ claim, volume });
      } else if (isProvisionable(this.#view.storageClass(name), node)) steps.push({ claim });
      else return undefined;
    }
    return steps;
  }
}

function isProvisionable(storageClass: StorageClass | undefined, node: NodeInfo): boolean {
  if (!storageClass || storageClass.provisioner === NO_PROVISIONER) return false;
  const topologies = storageClass.allowedTopologies ?? [];
  if (topologies.length === 0) return true;
  return topologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => Object.hasOwn(node.labels, key) && values.includes(node.labels[key])),
  );
}
