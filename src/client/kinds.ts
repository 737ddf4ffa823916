import type * as admissionregistration from '../kube/generated/admissionregistration-v1.ts';
import type * as apiextensions from '../kube/generated/apiextensions-v1.ts';
import type * as apiregistration from '../kube/generated/apiregistration-v1.ts';
import type * as apps from '../kube/generated/apps-v1.ts';
import type * as authentication from '../kube/generated/authentication-v1.ts';
import type * as authorization from '../kube/generated/authorization-v1.ts';
import type * as autoscaling2 from '../kube/generated/autoscaling-v2.ts';
import type * as batch from '../kube/generated/batch-v1.ts';
import type * as certificates from '../kube/generated/certificates-v1.ts';
import type * as coordination from '../kube/generated/coordination-v1.ts';
import type * as core from '../kube/generated/core-v1.ts';
import type * as discovery from '../kube/generated/discovery-v1.ts';
import type * as events from '../kube/generated/events-v1.ts';
import type * as networking from '../kube/generated/networking-v1.ts';
import type * as node from '../kube/generated/node-v1.ts';
import type * as policy from '../kube/generated/policy-v1.ts';
import type * as rbac from '../kube/generated/rbac-v1.ts';
import type * as scheduling from '../kube/generated/scheduling-v1.ts';
import type * as storage from '../kube/generated/storage-v1.ts';
import type { Kind } from '../kube/kind.ts';
import type { KubeObject } from '../kube/object.ts';

/** The recorded fields of a kind, on an object like any other: its apiVersion and kind are what the descriptor says. */
type Object<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & KubeObject;

function namespaced<T>(apiVersion: string, kind: string, plural: string): Kind<Object<T>> {
  return descriptor(apiVersion, kind, plural, true);
}

function cluster<T>(apiVersion: string, kind: string, plural: string): Kind<Object<T>> {
  return descriptor(apiVersion, kind, plural, false);
}

function descriptor<T extends KubeObject>(apiVersion: string, kind: string, plural: string, namespaced: boolean): Kind<T> {
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind, plural, namespaced };
}

export const Namespace = cluster<core.Namespace>('v1', 'Namespace', 'namespaces');
export const Node = cluster<core.Node>('v1', 'Node', 'nodes');
export const PersistentVolume = cluster<core.PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes');
export const ConfigMap = namespaced<core.ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const Endpoints = namespaced<core.Endpoints>('v1', 'Endpoints', 'endpoints');
export const CoreEvent = namespaced<core.Event>('v1', 'Event', 'events');
export const LimitRange = namespaced<core.LimitRange>('v1', 'LimitRange', 'limitranges');
export const PersistentVolumeClaim = namespaced<core.PersistentVolumeClaim>('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const Pod = namespaced<core.Pod>('v1', 'Pod', 'pods');
export const PodTemplate = namespaced<core.PodTemplate>('v1', 'PodTemplate', 'podtemplates');
export const ReplicationController = namespaced<core.ReplicationController>('v1', 'ReplicationController', 'replicationcontrollers');
export const ResourceQuota = namespaced<core.ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas');
export const Secret = namespaced<core.Secret>('v1', 'Secret', 'secrets');
export const Service = namespaced<core.Service>('v1', 'Service', 'services');
export const ServiceAccount = namespaced<core.ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts');

export const ControllerRevision = namespaced<apps.ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions');
export const DaemonSet = namespaced<apps.DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets');
export const Deployment = namespaced<apps.Deployment>('apps/v1', 'Deployment', 'deployments');
export const ReplicaSet = namespaced<apps.ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets');
export const StatefulSet = namespaced<apps.StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets');
export const CronJob = namespaced<batch.CronJob>('batch/v1', 'CronJob', 'cronjobs');
export const Job = namespaced<batch.Job>('batch/v1', 'Job', 'jobs');
export const HorizontalPodAutoscaler = namespaced<autoscaling2.HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
);
export const PodDisruptionBudget = namespaced<policy.PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
export const NetworkPolicy = namespaced<networking.NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
export const Ingress = namespaced<networking.Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses');
export const IngressClass = cluster<networking.IngressClass>('networking.k8s.io/v1', 'IngressClass', 'ingressclasses');
export const EndpointSlice = namespaced<discovery.EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');
export const Lease = namespaced<coordination.Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
export const Event = namespaced<events.Event>('events.k8s.io/v1', 'Event', 'events');
export const PriorityClass = cluster<scheduling.PriorityClass>('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses');
export const StorageClass = cluster<storage.StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses');
export const VolumeAttributesClass = cluster<storage.VolumeAttributesClass>(
  'storage.k8s.io/v1',
  'VolumeAttributesClass',
  'volumeattributesclasses',
);
export const RuntimeClass = cluster<node.RuntimeClass>('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses');

export const Role = namespaced<rbac.Role>('rbac.authorization.k8s.io/v1', 'Role', 'roles');
export const RoleBinding = namespaced<rbac.RoleBinding>('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
export const ClusterRole = cluster<rbac.ClusterRole>('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles');
export const ClusterRoleBinding = cluster<rbac.ClusterRoleBinding>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
);
export const CertificateSigningRequest = cluster<certificates.CertificateSigningRequest>(
  'certificates.k8s.io/v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
);
export const CustomResourceDefinition = cluster<apiextensions.CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const APIService = cluster<apiregistration.APIService>('apiregistration.k8s.io/v1', 'APIService', 'apiservices');
export const MutatingWebhookConfiguration = cluster<admissionregistration.MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
);
export const ValidatingWebhookConfiguration = cluster<admissionregistration.ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
);
export const ValidatingAdmissionPolicy = cluster<admissionregistration.ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
);
export const ValidatingAdmissionPolicyBinding = cluster<admissionregistration.ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
);
export const TokenReview = cluster<authentication.TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews');
export const SelfSubjectReview = cluster<authentication.SelfSubjectReview>(
  'authentication.k8s.io/v1',
  'SelfSubjectReview',
  'selfsubjectreviews',
);
export const SubjectAccessReview = cluster<authorization.SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
);
export const SelfSubjectAccessReview = cluster<authorization.SelfSubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
);
