import { semanticEqual } from '../../../../kube/json-value.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { Json } from '../../../../kube/object.ts';
import type { ServiceAllocator } from '../service-allocator.ts';
import { CERTIFICATE_SIGNING_REQUEST } from './certificate-signing-request.ts';
import { DAEMON_SET } from './daemon-set.ts';
import { JOB } from './job.ts';
import { POD } from './pod.ts';
import { serviceBehaviour } from './service.ts';
import { copyField, copyMetadata, keepAllBut, keepMetadata, type KindBehaviour } from './standard.ts';
import { PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM } from './volumes.ts';

const COUNTED: KindBehaviour = { tracksGeneration: true };
const CONDITIONAL: KindBehaviour = { allowUnconditionalUpdate: false };
const RBAC: KindBehaviour = { nameRule: 'path-segment', allowCreateOnUpdate: true };
const WEBHOOKS: KindBehaviour = { tracksGeneration: true, allowUnconditionalUpdate: false };

/** Status updates of these leave metadata as it is. */
function statusOnly(behaviour: KindBehaviour): KindBehaviour {
  return {
    ...behaviour,
    resetFields: { '': ['status'], status: ['metadata', 'spec'] },
    subresources: { status: keepEverythingButStatus },
  };
}

function keepEverythingButStatus(object: Json, old: Json): void {
  keepAllBut(object, old, 'status');
  keepMetadata(object, old);
}

const DEPLOYMENT: KindBehaviour = {
  ...COUNTED,
  metadataCounts: (object, old) => !semanticEqual(object.metadata.annotations, old.metadata.annotations),
  resetFields: { '': ['status'], status: ['spec', 'metadata.labels'] },
  subresources: {
    status(deployment, old) {
      keepAllBut(deployment, old, 'status');
      copyMetadata(deployment, old, 'labels');
    },
  },
};

const NAMESPACE: KindBehaviour = {
  nameRule: 'dns-label',
  onCreate(namespace) {
    const finalizers: string[] = namespace.spec.finalizers ?? [];
    if (!finalizers.includes('kubernetes')) namespace.spec = { ...namespace.spec, finalizers: [...finalizers, 'kubernetes'] };
  },
  onUpdate: (namespace, old) => copyField(namespace.spec, old.spec, 'finalizers'),
  subresources: { finalize: (namespace, old) => copyField(namespace, old, 'status') },
};

const CUSTOM_RESOURCE_DEFINITION: KindBehaviour = {
  tracksGeneration: true,
  allowUnconditionalUpdate: false,
  resetFields: { '': ['status'], status: ['metadata', 'spec'] },
  onCreate(definition) {
    const stored = definition.spec.versions?.find((version: Json) => version.storage);
    if (stored) definition.status.storedVersions = [stored.name];
  },
};

const API_SERVICE: KindBehaviour = {
  nameRule: 'path-segment',
  allowUnconditionalUpdate: false,
  onCreate(service, context) {
    service.status = {};
    if (service.spec.service) return;
    const condition = { type: 'Available', status: 'True', lastTransitionTime: formatTime(context.now()) };
    service.status = { conditions: [{ ...condition, reason: 'Local', message: 'Local APIServices are always available' }] };
  },
  subresources: {
    status(service, old) {
      keepAllBut(service, old, 'status');
      copyMetadata(service, old, 'labels', 'annotations', 'finalizers', 'ownerReferences');
    },
  },
};

/** What each kind does differently, by `group/resource`. A kind that is not here does what most do. */
export function behaviours(allocator: ServiceAllocator): Record<string, KindBehaviour> {
  return {
    '/endpoints': { allowCreateOnUpdate: true },
    '/events': { allowCreateOnUpdate: true },
    '/limitranges': { allowCreateOnUpdate: true },
    '/namespaces': NAMESPACE,
    // Kubelets register with their status.
    '/nodes': { keepsStatus: true },
    '/persistentvolumeclaims': PERSISTENT_VOLUME_CLAIM,
    '/persistentvolumes': PERSISTENT_VOLUME,
    '/pods': POD,
    '/podtemplates': { tracksGeneration: true },
    '/replicationcontrollers': { ...COUNTED, defaultPropagation: 'Orphan' },
    '/secrets': { onUpdate: (secret, old) => (secret.type ??= old.type) },
    '/services': serviceBehaviour(allocator),
    'admissionregistration.k8s.io/mutatingwebhookconfigurations': WEBHOOKS,
    'admissionregistration.k8s.io/validatingadmissionpolicies': statusOnly(WEBHOOKS),
    'admissionregistration.k8s.io/validatingadmissionpolicybindings': WEBHOOKS,
    'admissionregistration.k8s.io/validatingwebhookconfigurations': WEBHOOKS,
    'apiextensions.k8s.io/customresourcedefinitions': CUSTOM_RESOURCE_DEFINITION,
    'apiregistration.k8s.io/apiservices': API_SERVICE,
    'apps/daemonsets': DAEMON_SET,
    'apps/deployments': DEPLOYMENT,
    'apps/replicasets': COUNTED,
    'apps/statefulsets': { ...COUNTED, nameRule: 'dns-label' },
    'batch/cronjobs': { tracksGeneration: true },
    'batch/jobs': JOB,
    'certificates.k8s.io/certificatesigningrequests': CERTIFICATE_SIGNING_REQUEST,
    'coordination.k8s.io/leases': { allowCreateOnUpdate: true, allowUnconditionalUpdate: false },
    'discovery.k8s.io/endpointslices': {
      tracksGeneration: true,
      metadataCounts: (object, old) => !semanticEqual(object.metadata.labels, old.metadata.labels),
    },
    'events.k8s.io/events': { allowCreateOnUpdate: true },
    'flowcontrol.apiserver.k8s.io/flowschemas': statusOnly(COUNTED),
    'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': statusOnly(COUNTED),
    'networking.k8s.io/ingressclasses': COUNTED,
    'networking.k8s.io/ingresses': COUNTED,
    'networking.k8s.io/ipaddresses': { nameRule: 'ip-address' },
    'networking.k8s.io/networkpolicies': COUNTED,
    'networking.k8s.io/servicecidrs': { keepsStatus: true, subresources: { status: keepEverythingButStatus } },
    'node.k8s.io/runtimeclasses': { allowCreateOnUpdate: true, allowUnconditionalUpdate: false },
    'policy/poddisruptionbudgets': { tracksGeneration: true, allowUnconditionalUpdate: false },
    'rbac.authorization.k8s.io/clusterrolebindings': RBAC,
    'rbac.authorization.k8s.io/clusterroles': RBAC,
    'rbac.authorization.k8s.io/rolebindings': RBAC,
    'rbac.authorization.k8s.io/roles': RBAC,
    'resource.k8s.io/deviceclasses': COUNTED,
    'resource.k8s.io/resourceclaims': statusOnly({}),
    'resource.k8s.io/resourceslices': COUNTED,
    'scheduling.k8s.io/priorityclasses': { onCreate: (object) => (object.metadata.generation = 1) },
    'storage.k8s.io/csidrivers': CONDITIONAL,
    'storage.k8s.io/csinodes': CONDITIONAL,
    'storage.k8s.io/csistoragecapacities': CONDITIONAL,
    'storage.k8s.io/volumeattachments': { ...statusOnly(CONDITIONAL) },
  };
}
