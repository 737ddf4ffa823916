import type { Kind } from '../kube/kind.ts';

function namespaced(apiVersion: string, kind: string, plural: string): Kind {
  return descriptor(apiVersion, kind, plural, true);
}

function cluster(apiVersion: string, kind: string, plural: string): Kind {
  return descriptor(apiVersion, kind, plural, false);
}

function descriptor(apiVersion: string, kind: string, plural: string, namespaced: boolean): Kind {
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind, plural, namespaced };
}

export const Namespace = cluster('v1', 'Namespace', 'namespaces');
export const Node = cluster('v1', 'Node', 'nodes');
export const PersistentVolume = cluster('v1', 'PersistentVolume', 'persistentvolumes');
export const ConfigMap = namespaced('v1', 'ConfigMap', 'configmaps');
export const Endpoints = namespaced('v1', 'Endpoints', 'endpoints');
export const CoreEvent = namespaced('v1', 'Event', 'events');
export const LimitRange = namespaced('v1', 'LimitRange', 'limitranges');
export const PersistentVolumeClaim = namespaced('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const Pod = namespaced('v1', 'Pod', 'pods');
export const PodTemplate = namespaced('v1', 'PodTemplate', 'podtemplates');
export const ReplicationController = namespaced('v1', 'ReplicationController', 'replicationcontrollers');
export const ResourceQuota = namespaced('v1', 'ResourceQuota', 'resourcequotas');
export const Secret = namespaced('v1', 'Secret', 'secrets');
export const Service = namespaced('v1', 'Service', 'services');
export const ServiceAccount = namespaced('v1', 'ServiceAccount', 'serviceaccounts');

export const ControllerRevision = namespaced('apps/v1', 'ControllerRevision', 'controllerrevisions');
export const DaemonSet = namespaced('apps/v1', 'DaemonSet', 'daemonsets');
export const Deployment = namespaced('apps/v1', 'Deployment', 'deployments');
export const ReplicaSet = namespaced('apps/v1', 'ReplicaSet', 'replicasets');
export const StatefulSet = namespaced('apps/v1', 'StatefulSet', 'statefulsets');
export const CronJob = namespaced('batch/v1', 'CronJob', 'cronjobs');
export const Job = namespaced('batch/v1', 'Job', 'jobs');
export const HorizontalPodAutoscaler = namespaced('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers');
export const PodDisruptionBudget = namespaced('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
export const NetworkPolicy = namespaced('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
export const Ingress = namespaced('networking.k8s.io/v1', 'Ingress', 'ingresses');
export const EndpointSlice = namespaced('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');
export const Lease = namespaced('coordination.k8s.io/v1', 'Lease', 'leases');
export const Event = namespaced('events.k8s.io/v1', 'Event', 'events');
export const PriorityClass = cluster('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses');
export const StorageClass = cluster('storage.k8s.io/v1', 'StorageClass', 'storageclasses');
export const RuntimeClass = cluster('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses');

export const Role = namespaced('rbac.authorization.k8s.io/v1', 'Role', 'roles');
export const RoleBinding = namespaced('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
export const ClusterRole = cluster('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles');
export const ClusterRoleBinding = cluster('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings');
export const CertificateSigningRequest = cluster('certificates.k8s.io/v1', 'CertificateSigningRequest', 'certificatesigningrequests');
export const CustomResourceDefinition = cluster('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions');
export const APIService = cluster('apiregistration.k8s.io/v1', 'APIService', 'apiservices');
export const MutatingWebhookConfiguration = cluster(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
);
export const ValidatingWebhookConfiguration = cluster(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
);
export const TokenReview = cluster('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews');
export const SelfSubjectReview = cluster('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews');
export const SubjectAccessReview = cluster('authorization.k8s.io/v1', 'SubjectAccessReview', 'subjectaccessreviews');
export const SelfSubjectAccessReview = cluster('authorization.k8s.io/v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews');
