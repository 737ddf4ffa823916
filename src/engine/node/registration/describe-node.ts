import type { NodeCondition, NodeStatus } from '../../../kube/generated/core-v1.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { Quantity } from '../../../kube/quantity.ts';
import { formatTime } from '../../../kube/time.ts';
import type { StoredImage } from '../images/images.ts';
import type { MachineFacts } from './machine-facts.ts';
import type { Pressure } from './pressure.ts';

/** On a Node: the folder under which it keeps local volumes. The controller of persistent volumes reads it. */
export const VOLUME_FOLDER = 'tenantry.dev/volume-folder';
export const KUBERNETES_VERSION = 'v1.35.4';
/** What a node takes at most. */
export const MAX_PODS = 250;
const MAX_IMAGES = 50;
const NAMES_PER_IMAGE = 5;

export interface NodeDescription {
  name: string;
  machine: MachineFacts;
  diskBytes: number;
  volumeFolder: string;
  /** Where the node's server is reached; as far as the API server itself. */
  serverAddress: string;
  /** Of this product. */
  version: string;
  /** Extended resources that somebody vouches for: accelerators, licences. */
  resources: Readonly<Record<string, string>>;
  /** `runc://1.1.5`, `process://0.1.0`. */
  runtime: string;
  /** Where the node's server listens; absent before there is one. */
  serverPort?: number;
  podCidr?: string;
  /** Absent: not known just now. */
  images?: readonly StoredImage[];
}

export interface NodeHealth {
  pressure: Pressure;
  /** Absent, like the next: it is found out with the first Pod. */
  policies?: { status: boolean; reason: string; message: string };
  /** What the driver does not isolate. */
  missingIsolation?: readonly string[];
}

export function nodeMetadata({
  name,
  machine,
  volumeFolder,
}: NodeDescription): Required<Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>> {
  const labels: Record<string, string> = {};
  for (const prefix of ['', 'beta.']) {
    labels[`${prefix}kubernetes.io/os`] = machine.os;
    labels[`${prefix}kubernetes.io/arch`] = machine.architecture;
  }
  labels['kubernetes.io/hostname'] = name;
  return { name, labels, annotations: { [VOLUME_FOLDER]: volumeFolder } };
}

/** As it is registered first. */
export function newNode(node: NodeDescription, health: NodeHealth, now: Date) {
  const spec = node.podCidr === undefined ? {} : { podCIDR: node.podCidr, podCIDRs: [node.podCidr] };
  return { metadata: nodeMetadata(node), spec, status: { ...nodeStatus(node), conditions: nodeConditions(health, [], now) } };
}

/** All of a Node's status but its conditions. */
export function nodeStatus(node: NodeDescription): NodeStatus {
  const { machine, serverPort } = node;
  const amounts: Record<string, string> = {
    cpu: String(machine.cores),
    memory: `${Math.floor(machine.memoryBytes / 1024)}Ki`,
    'ephemeral-storage': `${Math.floor(node.diskBytes / 1024)}Ki`,
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    pods: String(MAX_PODS),
  };
  for (const [name, amount] of Object.entries(node.resources)) amounts[name] = Quantity.parse(amount).toString();
  return {
    capacity: amounts,
    allocatable: amounts,
    addresses: [
      { type: 'InternalIP', address: node.serverAddress },
      ...(machine.address === node.serverAddress ? [] : [{ type: 'ExternalIP', address: machine.address }]),
      { type: 'Hostname', address: node.name },
    ],
    ...(serverPort === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: serverPort } } }),
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.machineId,
      bootID: machine.bootId,
      kernelVersion: machine.kernel,
      osImage: machine.osImage,
      containerRuntimeVersion: node.runtime,
      kubeletVersion: `${KUBERNETES_VERSION}+tenantry-${node.version}`,
      kubeProxyVersion: '',
      operatingSystem: machine.os,
      architecture: machine.architecture,
    },
    ...(node.images === undefined ? {} : { images: imageList(node.images) }),
  };
}

function imageList(images: readonly StoredImage[]): NonNullable<NodeStatus['images']> {
  return images
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, MAX_IMAGES)
    .map(({ names, sizeBytes }) => ({ names: names.slice(0, NAMES_PER_IMAGE), sizeBytes }));
}

type Finding = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The conditions of a node, with the words of a kubelet where it has them. */
export function nodeConditions(health: NodeHealth, before: readonly NodeCondition[], now: Date): NodeCondition[] {
  const { pressure, policies, missingIsolation } = health;
  const findings: Finding[] = [
    pressure.memory
      ? finding('MemoryPressure', true, 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available')
      : finding('MemoryPressure', false, 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    pressure.disk
      ? finding('DiskPressure', true, 'KubeletHasDiskPressure', 'kubelet has disk pressure')
      : finding('DiskPressure', false, 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    pressure.processes
      ? finding('PIDPressure', true, 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available')
      : finding('PIDPressure', false, 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    ...(policies === undefined ? [] : [finding('NetworkPolicyEnforced', policies.status, policies.reason, policies.message)]),
    ...(missingIsolation === undefined ? [] : [isolation(missingIsolation)]),
    finding('Ready', true, 'KubeletReady', 'kubelet is posting ready status'),
  ];
  const time = formatTime(now);
  return findings.map((next) => {
    const old = before.find(({ type }) => type === next.type);
    const since = old?.status === next.status ? old.lastTransitionTime : undefined;
    return { ...next, lastHeartbeatTime: time, lastTransitionTime: since ?? time };
  });
}

function isolation(missing: readonly string[]): Finding {
  if (missing.length === 0) return finding('tenantry.dev/Isolation', true, 'Contained', 'containers are fully isolated');
  return finding('tenantry.dev/Isolation', false, 'IsolationMissing', `not isolated on this node: ${missing.join(', ')}`);
}

function finding(type: string, status: boolean, reason: string, message: string): Finding {
  return { type, status: status ? 'True' : 'False', reason, message };
}
