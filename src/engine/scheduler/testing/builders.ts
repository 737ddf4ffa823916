import type { Container, PodAffinityTerm, PodSpec, Taint, Toleration, TopologySpreadConstraint } from '../../../kube/generated/core-v1.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kube/volume-objects.ts';
import type { Cluster } from '../model/cluster.ts';
import { NodeInfo, type NodeObject } from '../model/node-info.ts';
import { podInfo, type PodInfo, type PodObject } from '../model/pod-info.ts';

type Amounts = Record<string, string>;

/** `aPod('web').requesting({ cpu: '1' }).labelled({ app: 'web' })`. */
export class PodBuilder {
  #metadata: PodObject['metadata'];
  #spec: PodSpec = { containers: [{ name: 'main', image: 'app' }] };
  #status: NonNullable<PodObject['status']> = { phase: 'Pending' };

  constructor(name: string) {
    this.#metadata = { name, namespace: 'default', uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' };
  }

  in(namespace: string): this {
    this.#metadata.namespace = namespace;
    return this;
  }

  labelled(labels: Record<string, string>): this {
    this.#metadata.labels = labels;
    return this;
  }

  requesting(...containers: Amounts[]): this {
    this.#spec.containers = containers.map((requests, i) => ({ name: `c${i}`, image: 'app', resources: { requests } }));
    return this;
  }

  initRequesting(...containers: (Amounts & { sidecar?: never })[]): this {
    return this.#init(containers, undefined);
  }

  sidecarRequesting(...containers: Amounts[]): this {
    return this.#init(containers, 'Always');
  }

  #init(containers: Amounts[], restartPolicy: string | undefined): this {
    const made: Container[] = containers.map((requests, i) => ({ name: `i${i}`, restartPolicy, resources: { requests } }));
    this.#spec.initContainers = [...(this.#spec.initContainers ?? []), ...made];
    return this;
  }

  onHostPort(hostPort: number, hostIP?: string): this {
    const [first, ...rest] = this.#spec.containers;
    const ports = [...(first.ports ?? []), { containerPort: hostPort, hostPort, hostIP }];
    this.#spec.containers = [{ ...first, ports }, ...rest];
    return this;
  }

  tolerating(...tolerations: Toleration[]): this {
    this.#spec.tolerations = tolerations;
    return this;
  }

  spreadOver(...constraints: TopologySpreadConstraint[]): this {
    this.#spec.topologySpreadConstraints = constraints;
    return this;
  }

  near(...terms: PodAffinityTerm[]): this {
    this.#spec.affinity = { ...this.#spec.affinity, podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    return this;
  }

  awayFrom(...terms: PodAffinityTerm[]): this {
    this.#spec.affinity = { ...this.#spec.affinity, podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    return this;
  }

  claiming(...claims: string[]): this {
    this.#spec.volumes = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    return this;
  }

  ofPriority(priority: number): this {
    this.#spec.priority = priority;
    return this;
  }

  startedAt(startTime: string): this {
    this.#status.startTime = startTime;
    return this;
  }

  with(spec: Partial<PodSpec>): this {
    Object.assign(this.#spec, spec);
    return this;
  }

  withMetadata(metadata: Partial<PodObject['metadata']>): this {
    Object.assign(this.#metadata, metadata);
    return this;
  }

  withStatus(status: Partial<NonNullable<PodObject['status']>>): this {
    Object.assign(this.#status, status);
    return this;
  }

  object(): PodObject {
    return { apiVersion: 'v1', kind: 'Pod', metadata: this.#metadata, spec: this.#spec, status: this.#status };
  }

  info(): PodInfo {
    return podInfo(this.object());
  }
}

export function aPod(name = 'pod'): PodBuilder {
  return new PodBuilder(name);
}

/** `aNode('n1').with({ cpu: '4' }).tainted({ key: 'gpu', effect: 'NoSchedule' }).holding(aPod())`. */
export class NodeBuilder {
  #object: NodeObject;
  #pods: PodInfo[] = [];

  constructor(name: string) {
    this.#object = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      spec: {},
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
    };
  }

  with(amounts: Amounts): this {
    this.#object.status = { ...this.#object.status, allocatable: { ...this.#object.status?.allocatable, ...amounts } };
    return this;
  }

  labelled(labels: Record<string, string>): this {
    Object.assign(this.#object.metadata.labels!, labels);
    return this;
  }

  tainted(...taints: Taint[]): this {
    this.#object.spec!.taints = taints;
    return this;
  }

  cordoned(): this {
    this.#object.spec!.unschedulable = true;
    return this;
  }

  havingImage(name: string, sizeBytes: number): this {
    this.#object.status!.images = [...(this.#object.status!.images ?? []), { names: [name], sizeBytes }];
    return this;
  }

  holding(...pods: PodBuilder[]): this {
    this.#pods.push(...pods.map((pod) => pod.info()));
    return this;
  }

  object(): NodeObject {
    return this.#object;
  }

  info(): NodeInfo {
    const info = NodeInfo.of(this.#object);
    for (const pod of this.#pods) info.add(pod);
    return info;
  }
}

export function aNode(name = 'node'): NodeBuilder {
  return new NodeBuilder(name);
}

export interface ClusterParts {
  namespaces?: Record<string, Record<string, string>>;
  claims?: PersistentVolumeClaim[];
  volumes?: PersistentVolume[];
  classes?: StorageClass[];
  nominated?: Record<string, PodBuilder[]>;
}

export function aCluster(nodes: NodeBuilder[], parts: ClusterParts = {}): Cluster {
  const { claims = [], volumes = [], classes = [], namespaces = {}, nominated = {} } = parts;
  return {
    nodes: nodes.map((node) => node.info()),
    namespaceLabels: (name) => namespaces[name],
    nominated: (node) => (nominated[node] ?? []).map((pod) => pod.info()),
    volumes: {
      claim: (namespace, name) => claims.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
      volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
      storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
      volumesOfClass: (name) => volumes.filter(({ spec }) => spec?.storageClassName === name),
    },
  };
}
