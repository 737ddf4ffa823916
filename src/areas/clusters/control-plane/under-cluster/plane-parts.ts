import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../../kube/object.ts';
import type { UnderClusterPlane } from './control-plane-objects.ts';

export type Part = 'etcd' | 'apiserver' | 'controller-manager' | 'scheduler';
export type KeySecrets = Record<Part, KubeObject & { stringData: Record<string, string> }>;

export const CLUSTER_LABEL = 'tenantry.dev/cluster';
export const PART_LABEL = 'tenantry.dev/control-plane';
/** Where the keys are in each of its Pods. */
export const KEY_FOLDER = '/etc/kubernetes/pki';
export const API_PORT = 6443;
export const TUNNEL_PORT = 8132;
export const ETCD_PORT = 2379;
export const ETCD_PEER_PORT = 2380;
/** Of no other image: it owns nothing on any node. */
const USER = 65_532;
const CHECKSUM = 'tenantry.dev/checksum-keys';

export function nameOf({ name }: Pick<UnderClusterPlane, 'name'>, part: string): string {
  return `${name}-${part}`;
}

export function labelsOf({ name }: Pick<UnderClusterPlane, 'name'>, part: Part): Record<string, string> {
  return { [CLUSTER_LABEL]: name, [PART_LABEL]: part };
}

export function metadataOf({ name, namespace }: UnderClusterPlane, part: string): KubeObject['metadata'] {
  return { name: `${name}-${part}`, namespace, labels: { [CLUSTER_LABEL]: name } };
}

/** Who has other keys than before is another Pod: a change of a Secret rolls what uses it. */
export function templateMetadata(plane: UnderClusterPlane, part: Part, secrets: KeySecrets): object {
  const checksum = createHash('sha256').update(JSON.stringify(secrets[part].stringData)).digest('hex');
  return { labels: labelsOf(plane, part), annotations: { [CHECKSUM]: checksum } };
}

/** What all its Pods have: no rights on the under-cluster, no more than they need on a node, and one node each if there are several. */
export function podSpecOf(plane: UnderClusterPlane, part: Part, containers: object[], volumes: object[] = []): object {
  return {
    serviceAccountName: nameOf(plane, 'control-plane'),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labelsOf(plane, part) },
      },
    ],
    containers,
    volumes: [{ name: 'keys', secret: { secretName: nameOf(plane, `${part}-keys`), defaultMode: 0o440 } }, ...volumes],
  };
}

export interface ContainerOptions {
  name: string;
  image: string;
  command: string[];
  ports?: object[];
  mounts?: object[];
  env?: object[];
  probes?: object;
  requests: { cpu: string; memory: string };
  memoryLimit: string;
}

export function containerOf({
  name,
  image,
  command,
  ports = [],
  mounts = [],
  env = [],
  probes = {},
  requests,
  memoryLimit,
}: ContainerOptions): object {
  return {
    name,
    image,
    command,
    env,
    ports,
    resources: { requests, limits: { memory: memoryLimit } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'keys', mountPath: KEY_FOLDER, readOnly: true }, ...mounts],
    ...probes,
  };
}

export function disruptionBudget(plane: UnderClusterPlane, part: Part): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataOf(plane, part),
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(plane, part) } },
  };
}
