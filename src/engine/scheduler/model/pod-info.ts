import type { Pod } from '../../../client/kinds.ts';
import type { PodSpec, Toleration, TopologySpreadConstraint } from '../../../kube/generated/core-v1.ts';
import { labelSelectorMatcher, type LabelMatcher } from '../../../kube/label-selector.ts';
import { namedNodes, nodeTermMatcher, requiredNodeMatcher, type NodeMatcher } from '../../../kube/node-selector.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import { podRequests, type Resources } from '../../../kube/pod-requests.ts';
import { affinityTerm, weightedTerm, withLabelKeys, type AffinityTerm, type Labels, type WeightedAffinityTerm } from './affinity-terms.ts';
import { assumedRequests } from './assumed-requests.ts';

export type PodObject = NonNullable<(typeof Pod)['objectType']>;

export interface HostPort {
  ip: string;
  protocol: string;
  port: number;
}

export interface SpreadConstraint {
  maxSkew: number;
  topologyKey: string;
  minDomains: number;
  selector: LabelMatcher;
  honorsAffinity: boolean;
  honorsTaints: boolean;
}

/** A Pod with all that scheduling asks of it read once. */
export interface PodInfo {
  pod: PodObject;
  /** `namespace/name`. */
  key: string;
  namespace: string;
  labels: Labels;
  priority: number;
  terminating: boolean;
  /** uid of its controller. */
  owner: string | undefined;
  requests: Resources;
  /** Requests with assumed amounts where none are stated. */
  assumed: Resources;
  tolerations: readonly Toleration[];
  /** Required of its node; undefined when any will do. */
  requiredNode: NodeMatcher | undefined;
  /** The only nodes that can be right. */
  namedNodes: Set<string> | undefined;
  preferredNodes: { weight: number; matches: NodeMatcher }[];
  hostPorts: HostPort[];
  /** Names of its PersistentVolumeClaims. */
  claims: string[];
  images: string[];
  affinity: { required: AffinityTerm[]; preferred: WeightedAffinityTerm[] };
  antiAffinity: { required: AffinityTerm[]; preferred: WeightedAffinityTerm[] };
  hasAffinity: boolean;
  hardSpread: SpreadConstraint[];
  softSpread: SpreadConstraint[];
}

const NO_LABELS: Labels = Object.freeze({});
const NONE = { required: [], preferred: [] };

export function podInfo(pod: PodObject): PodInfo {
  const spec = pod.spec!;
  const namespace = pod.metadata.namespace!;
  const labels = pod.metadata.labels ?? NO_LABELS;
  const owner = { namespace, labels };
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const terms = (side: typeof podAffinity) =>
    side
      ? {
          required: (side.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => affinityTerm(term, owner)),
          preferred: (side.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => weightedTerm(term, owner)),
        }
      : NONE;
  return {
    pod,
    key: `${namespace}/${pod.metadata.name}`,
    namespace,
    labels,
    priority: spec.priority ?? 0,
    terminating: pod.metadata.deletionTimestamp !== undefined,
    owner: controllerOf(pod)?.uid,
    requests: podRequests(spec),
    assumed: assumedRequests(spec),
    tolerations: spec.tolerations ?? [],
    requiredNode: requiredNodeMatcher(spec),
    namedNodes: namedNodes(spec),
    preferredNodes: (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      .filter(({ weight }) => weight !== 0)
      .map(({ weight, preference }) => ({ weight, matches: nodeTermMatcher(preference) })),
    hostPorts: hostPortsOf(spec),
    claims: claimsOf(pod),
    images: [...(spec.initContainers ?? []), ...spec.containers].map(({ image }) => image ?? ''),
    affinity: terms(podAffinity),
    antiAffinity: terms(podAntiAffinity),
    hasAffinity: podAffinity !== undefined || podAntiAffinity !== undefined,
    hardSpread: spreadOf(spec, labels, 'DoNotSchedule'),
    softSpread: spreadOf(spec, labels, 'ScheduleAnyway'),
  };
}

function hostPortsOf({ containers, initContainers }: PodSpec): HostPort[] {
  const ports: HostPort[] = [];
  const sidecars = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const container of sidecars.length === 0 ? containers : [...sidecars, ...containers]) {
    for (const { hostPort, hostIP, protocol } of container.ports ?? []) {
      if (hostPort) ports.push({ ip: hostIP || '0.0.0.0', protocol: protocol ?? 'TCP', port: hostPort });
    }
  }
  return ports;
}

/** Claims that exist by name, and those made for the Pod alone, which are named after it. */
export function claimsOf(pod: PodObject): string[] {
  const claims: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim) claims.push(volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral) claims.push(`${pod.metadata.name}-${volume.name}`);
  }
  return claims;
}

function spreadOf(spec: PodSpec, labels: Labels, action: TopologySpreadConstraint['whenUnsatisfiable']): SpreadConstraint[] {
  const constraints: SpreadConstraint[] = [];
  for (const constraint of spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== action) continue;
    constraints.push({
      maxSkew: constraint.maxSkew,
      topologyKey: constraint.topologyKey,
      minDomains: constraint.minDomains ?? 1,
      selector: labelSelectorMatcher(withLabelKeys(constraint, labels)),
      honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
      honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
    });
  }
  return constraints;
}
