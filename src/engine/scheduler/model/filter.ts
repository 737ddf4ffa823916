import type { AffinityCounts } from './filters/pod-affinity.ts';
import type { SpreadCounts } from './filters/topology-spread.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { PodVolumes } from './volumes.ts';

/** The names of Kubernetes' own plugins: some messages show them, and sleeping Pods are woken by what refused them. */
export type FilterName =
  | 'NodeUnschedulable'
  | 'NodeName'
  | 'TaintToleration'
  | 'NodeAffinity'
  | 'NodePorts'
  | 'NodeResourcesFit'
  | 'VolumeBinding'
  | 'PodTopologySpread'
  | 'InterPodAffinity';

/** Why a node does not fit. */
export interface Refusal {
  filter: FilterName;
  reasons: readonly string[];
  /** Taking Pods off the node would not help. */
  final: boolean;
}

/** What is worked out once per decision for all nodes; undefined where the Pod does not ask for it. */
export interface Cycle {
  spread: SpreadCounts | undefined;
  affinity: AffinityCounts | undefined;
  volumes: PodVolumes | undefined;
}

export interface Filter {
  name: FilterName;
  check(pod: PodInfo, node: NodeInfo, cycle: Cycle): Refusal | undefined;
}

export function refusal(filter: FilterName, reason: string, final: boolean): Refusal {
  return Object.freeze({ filter, reasons: Object.freeze([reason]), final });
}
