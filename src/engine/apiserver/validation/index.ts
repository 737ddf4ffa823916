import type { FieldError } from '../../../kube/field-error.ts';
import type { KubeObject } from '../../../kube/object.ts';
import {
  validateLocalSubjectAccessReview,
  validateSelfSubjectAccessReview,
  validateSubjectAccessReview,
  validateTokenRequest,
} from './access/reviews.ts';
import { validateApiService } from './admission/api-service.ts';
import type { CelCheck } from './admission/cel-use.ts';
import { validateAdmissionPolicy, validateAdmissionPolicyBinding } from './admission/validating-policy.ts';
import { validateWebhookConfiguration } from './admission/webhook-configuration.ts';
import { validateControllerRevision } from './apps/controller-revision.ts';
import { validateDaemonSet } from './apps/daemon-set.ts';
import { validateDeployment } from './apps/deployment.ts';
import { validateReplicaSet } from './apps/replica-set.ts';
import { validateStatefulSet } from './apps/stateful-set.ts';
import { validateHorizontalPodAutoscaler, validateScale } from './autoscaling/horizontal-pod-autoscaler.ts';
import { validateCronJob } from './batch/cron-job.ts';
import { validateJob } from './batch/job.ts';
import { validateCertificateSigningRequest } from './certificates/certificate-signing-request.ts';
import { validateLease } from './coordination/lease.ts';
import { validateEndpoints } from './core/endpoints.ts';
import { validateEvent } from './core/event.ts';
import { validateLimitRange } from './core/limit-range.ts';
import { validateNamespace } from './core/namespace.ts';
import { validateNode } from './core/node.ts';
import { validatePersistentVolumeClaim } from './core/persistent-volume-claim.ts';
import { validatePersistentVolume } from './core/persistent-volume.ts';
import { validateReplicationController } from './core/replication-controller.ts';
import { validateResourceQuota } from './core/resource-quota.ts';
import { validateConfigMap, validateSecret } from './core/secret.ts';
import { validateService } from './core/service.ts';
import { runToEnd, type Sliced } from '../schema/slices.ts';
import { EnoughFound, Findings } from './findings.ts';
import { validateFlowSchema, validatePriorityLevel } from './flowcontrol/flow-control.ts';
import { validateEndpointSlice } from './networking/endpoint-slice.ts';
import { validateIngress, validateIngressClass } from './networking/ingress.ts';
import { validateNetworkPolicy } from './networking/network-policy.ts';
import { validateIpAddress, validateServiceCidr } from './networking/service-cidr.ts';
import { validateBinding, validatePod } from './pod/pod.ts';
import { validatePodTemplateObject } from './pod/template.ts';
import { validatePodDisruptionBudget } from './policy/pod-disruption-budget.ts';
import { validateClusterRole, validateClusterRoleBinding, validateRole, validateRoleBinding } from './rbac/roles.ts';
import { validateDeviceClass, validateResourceClaim, validateResourceClaimTemplate } from './resource/device-claims.ts';
import { validatePriorityClass } from './scheduling/priority-class.ts';
import { validateRuntimeClass } from './scheduling/runtime-class.ts';
import { validateCsiDriver, validateCsiNode } from './storage/csi.ts';
import { validateCsiStorageCapacity, validateStorageClass, validateVolumeAttributesClass } from './storage/storage-class.ts';
import { validateVolumeAttachment } from './storage/volume-attachment.ts';

export type { CelCheck, CelUse } from './admission/cel-use.ts';
export { warnings } from './warnings/index.ts';

export interface ValidationContext {
  /** '' or absent for the main resource. */
  subresource?: string;
  /** Compiles the CEL expressions of policies and match conditions; without it they are taken as they are. */
  checkCel?: CelCheck;
}

type Validator = (out: Findings, object: KubeObject, old: KubeObject | undefined, subresource: string, context: ValidationContext) => void;

const webhooks: Validator = (out, object, old, _subresource, { checkCel }) => validateWebhookConfiguration(out, object, old, checkCel);

/** By group and kind. Kinds that are not here have nothing to check beyond types and metadata. */
const VALIDATORS: Record<string, Validator> = {
  '/Binding': validateBinding,
  '/ConfigMap': validateConfigMap,
  '/Endpoints': validateEndpoints,
  '/Event': validateEvent,
  '/LimitRange': validateLimitRange,
  '/Namespace': validateNamespace,
  '/Node': validateNode,
  '/PersistentVolume': validatePersistentVolume,
  '/PersistentVolumeClaim': validatePersistentVolumeClaim,
  '/Pod': validatePod,
  '/PodTemplate': validatePodTemplateObject,
  '/ReplicationController': validateReplicationController,
  '/ResourceQuota': validateResourceQuota,
  '/Secret': validateSecret,
  '/Service': validateService,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': (out, object, old, subresource, { checkCel }) =>
    validateAdmissionPolicy(out, object, old, subresource, checkCel),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validateAdmissionPolicyBinding,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'apiregistration.k8s.io/APIService': validateApiService,
  'apps/ControllerRevision': validateControllerRevision,
  'apps/DaemonSet': validateDaemonSet,
  'apps/Deployment': validateDeployment,
  'apps/ReplicaSet': validateReplicaSet,
  'apps/StatefulSet': validateStatefulSet,
  'authentication.k8s.io/TokenRequest': validateTokenRequest,
  'authorization.k8s.io/LocalSubjectAccessReview': validateLocalSubjectAccessReview,
  'authorization.k8s.io/SelfSubjectAccessReview': validateSelfSubjectAccessReview,
  'authorization.k8s.io/SubjectAccessReview': validateSubjectAccessReview,
  'autoscaling/HorizontalPodAutoscaler': validateHorizontalPodAutoscaler,
  'autoscaling/Scale': validateScale,
  'batch/CronJob': validateCronJob,
  'batch/Job': validateJob,
  'certificates.k8s.io/CertificateSigningRequest': validateCertificateSigningRequest,
  'coordination.k8s.io/Lease': validateLease,
  'discovery.k8s.io/EndpointSlice': validateEndpointSlice,
  'events.k8s.io/Event': validateEvent,
  'flowcontrol.apiserver.k8s.io/FlowSchema': validateFlowSchema,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': validatePriorityLevel,
  'networking.k8s.io/IPAddress': validateIpAddress,
  'networking.k8s.io/Ingress': validateIngress,
  'networking.k8s.io/IngressClass': validateIngressClass,
  'networking.k8s.io/NetworkPolicy': validateNetworkPolicy,
  'networking.k8s.io/ServiceCIDR': validateServiceCidr,
  'node.k8s.io/RuntimeClass': validateRuntimeClass,
  'policy/PodDisruptionBudget': validatePodDisruptionBudget,
  'rbac.authorization.k8s.io/ClusterRole': validateClusterRole,
  'rbac.authorization.k8s.io/ClusterRoleBinding': validateClusterRoleBinding,
  'rbac.authorization.k8s.io/Role': validateRole,
  'rbac.authorization.k8s.io/RoleBinding': validateRoleBinding,
  'resource.k8s.io/DeviceClass': validateDeviceClass,
  'resource.k8s.io/ResourceClaim': validateResourceClaim,
  'resource.k8s.io/ResourceClaimTemplate': validateResourceClaimTemplate,
  'scheduling.k8s.io/PriorityClass': validatePriorityClass,
  'storage.k8s.io/CSIDriver': validateCsiDriver,
  'storage.k8s.io/CSINode': validateCsiNode,
  'storage.k8s.io/CSIStorageCapacity': validateCsiStorageCapacity,
  'storage.k8s.io/StorageClass': validateStorageClass,
  'storage.k8s.io/VolumeAttachment': validateVolumeAttachment,
  'storage.k8s.io/VolumeAttributesClass': validateVolumeAttributesClass,
};

/**
 * What is wrong with a built-in object, in Kubernetes' words and order; metadata is checked elsewhere. The object is decoded:
 * types are right, defaults applied, quantities canonical. `old` is what is stored, on updates.
 */
export function validateBuiltin(
  kind: { group: string; kind: string },
  object: KubeObject,
  old?: KubeObject,
  context: ValidationContext = {},
): FieldError[] {
  return runToEnd(validationSteps(kind, object, old, context));
}

/** The same with pauses, for large objects. */
export function* validationSteps(
  kind: { group: string; kind: string },
  object: KubeObject,
  old?: KubeObject,
  context: ValidationContext = {},
): Sliced<FieldError[]> {
  const validate = VALIDATORS[`${kind.group}/${kind.kind}`];
  if (validate === undefined) return NOTHING;
  const out = new Findings();
  try {
    validate(out, object, old, context.subresource ?? '', context);
    for (const step of out.rest) {
      yield;
      yield* step();
    }
  } catch (error) {
    if (!(error instanceof EnoughFound)) throw error;
  }
  return out.list;
}

const NOTHING: FieldError[] = [];
