import type { NamespaceLabels } from './affinity-terms.ts';
import type { NodeInfo } from './node-info.ts';
import type { PodInfo } from './pod-info.ts';
import type { VolumeView } from './volumes.ts';

/** All that a decision may look at. */
export interface Cluster {
  nodes: readonly NodeInfo[];
  namespaceLabels: NamespaceLabels;
  volumes: VolumeView;
  /** Pods that were promised room on a node but are not on it yet: they wait for others to go. */
  nominated(node: string): readonly PodInfo[];
}
