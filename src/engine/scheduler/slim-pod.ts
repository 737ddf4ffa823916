import type { Container } from '../../kube/generated/core-v1.ts';
import type { PodObject } from './model/pod-info.ts';

/** Pods are many: what no decision looks at is not kept. */
export function slimPod(pod: PodObject): PodObject {
  const { metadata, spec, status } = pod;
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      generation: metadata.generation,
      creationTimestamp: metadata.creationTimestamp,
      deletionTimestamp: metadata.deletionTimestamp,
      labels: metadata.labels,
      ownerReferences: metadata.ownerReferences,
    },
    spec: spec && {
      nodeName: spec.nodeName,
      schedulerName: spec.schedulerName,
      schedulingGates: spec.schedulingGates,
      priority: spec.priority,
      preemptionPolicy: spec.preemptionPolicy,
      nodeSelector: spec.nodeSelector,
      affinity: spec.affinity,
      tolerations: spec.tolerations,
      topologySpreadConstraints: spec.topologySpreadConstraints,
      overhead: spec.overhead,
      resources: spec.resources,
      containers: spec.containers.map(slimContainer),
      initContainers: spec.initContainers?.map(slimContainer),
      volumes: spec.volumes?.filter(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral),
    },
    status: status && {
      phase: status.phase,
      startTime: status.startTime,
      nominatedNodeName: status.nominatedNodeName,
      conditions: status.conditions?.filter(({ type }) => type === 'PodScheduled' || type === 'DisruptionTarget'),
    },
  };
}

function slimContainer({ name, image, resources, ports, restartPolicy }: Container): Container {
  const hostPorts = ports?.filter(({ hostPort }) => hostPort);
  return { name, image, resources, restartPolicy, ports: hostPorts?.length ? hostPorts : undefined };
}
