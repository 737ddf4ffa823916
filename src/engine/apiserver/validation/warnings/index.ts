import type { KubeObject } from '../../../../kube/object.ts';
import * as kinds from './kinds.ts';

const WARNERS: Record<string, kinds.Warner> = {
  '/Endpoints': kinds.warnEndpoints,
  '/Node': kinds.warnNode,
  '/PersistentVolume': kinds.warnPersistentVolume,
  '/PersistentVolumeClaim': kinds.warnPersistentVolumeClaim,
  '/Pod': kinds.warnPod,
  '/PodTemplate': kinds.warnPodTemplate,
  '/ReplicationController': kinds.warnReplicationController,
  '/ResourceQuota': kinds.warnResourceQuota,
  '/Secret': kinds.warnSecret,
  '/Service': kinds.warnService,
  '/ServiceAccount': kinds.warnServiceAccount,
  'apps/DaemonSet': kinds.warnDaemonSet,
  'apps/Deployment': kinds.warnWorkload,
  'apps/ReplicaSet': kinds.warnWorkload,
  'apps/StatefulSet': kinds.warnStatefulSet,
  'batch/CronJob': kinds.warnCronJob,
  'batch/Job': kinds.warnJob,
  'discovery.k8s.io/EndpointSlice': kinds.warnEndpointSlice,
  'networking.k8s.io/Ingress': kinds.warnIngress,
  'networking.k8s.io/NetworkPolicy': kinds.warnNetworkPolicy,
  'node.k8s.io/RuntimeClass': kinds.warnRuntimeClass,
  'storage.k8s.io/CSIDriver': kinds.warnCsiDriver,
  'storage.k8s.io/StorageClass': kinds.warnStorageClass,
};

const NONE: string[] = [];

/** Texts of the Warning headers for a write to the main resource that is otherwise accepted. */
export function warnings(kind: { group: string; kind: string }, object: KubeObject, old?: KubeObject): string[] {
  const warn = WARNERS[`${kind.group}/${kind.kind}`];
  return warn === undefined ? NONE : warn(object, old);
}
