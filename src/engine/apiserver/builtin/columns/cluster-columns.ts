import { formatAge } from '../../../../kube/age.ts';
import type { Json } from '../../../../kube/object.ts';
import { accessModes, conditionStatus, loadBalancerAddresses } from './cell-text.ts';
import type { Cells } from './columns.ts';

function subjectsOf({ subjects = [] }: Json, kind: string): string {
  const names = subjects
    .filter((subject: Json) => subject.kind === kind)
    .map((subject: Json) => (kind === 'ServiceAccount' ? `${subject.namespace ?? ''}/${subject.name}` : subject.name));
  return names.join(', ');
}

const BINDING: Cells = {
  Role: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
  Users: (binding) => subjectsOf(binding, 'User'),
  Groups: (binding) => subjectsOf(binding, 'Group'),
  ServiceAccounts: (binding) => subjectsOf(binding, 'ServiceAccount'),
};

function requestCondition({ status = {} }: Json): string {
  const has = (type: string): boolean => status.conditions?.some((condition: Json) => condition.type === type) ?? false;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${status.certificate ? ',Issued' : ''}`;
}

function ingressHosts({ spec }: Json): string {
  const rules: Json[] = spec.rules ?? [];
  const hosts = rules.map((rule) => rule.host).filter(Boolean);
  if (hosts.length === 0) return '*';
  return hosts.length >= 3 && rules.length > 3 ? `${hosts.slice(0, 3).join(',')} + ${rules.length - 3} more...` : hosts.join(',');
}

function ingressParameters({ spec }: Json): string {
  const { parameters } = spec;
  if (!parameters) return '<none>';
  return `${parameters.kind}${parameters.apiGroup ? `.${parameters.apiGroup}` : ''}/${parameters.name}`;
}

function phase({ metadata, status }: Json): string {
  return metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');
}

function storageClass({ metadata, spec }: Json): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName ?? '';
}

const VOLUME: Cells = {
  Capacity: ({ spec }) => spec.capacity?.storage ?? '0',
  'Access Modes': ({ spec }) => accessModes(spec.accessModes),
  'Reclaim Policy': ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '',
  Status: phase,
  Claim: ({ spec }) => (spec.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : ''),
  StorageClass: storageClass,
  VolumeAttributesClass: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
  Reason: ({ status }) => status?.reason ?? '',
  VolumeMode: ({ spec }) => spec.volumeMode ?? '<unset>',
};

const CLAIM: Cells = {
  Status: phase,
  Volume: ({ spec }) => spec.volumeName ?? '',
  Capacity: ({ spec, status }) => (spec.volumeName ? (status?.capacity?.storage ?? '0') : ''),
  'Access Modes': ({ spec, status }) => (spec.volumeName ? accessModes(status?.accessModes) : ''),
  StorageClass: storageClass,
  VolumeAttributesClass: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
  VolumeMode: ({ spec }) => spec.volumeMode ?? '<unset>',
};

function isDefaultClass({ metadata }: Json): boolean {
  const prefix = (domain: string): string => `storageclass${domain}.kubernetes.io/is-default-class`;
  return metadata.annotations?.[prefix('')] === 'true' || metadata.annotations?.[prefix('.beta')] === 'true';
}

const STORAGE_CLASS: Cells = {
  Name: (object) => (isDefaultClass(object) ? `${object.metadata.name} (default)` : object.metadata.name),
  Provisioner: ({ provisioner }) => provisioner,
  ReclaimPolicy: ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
  VolumeBindingMode: ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
  AllowVolumeExpansion: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
};

const CSI_DRIVER: Cells = {
  AttachRequired: ({ spec }) => spec.attachRequired ?? true,
  PodInfoOnMount: ({ spec }) => spec.podInfoOnMount ?? false,
  StorageCapacity: ({ spec }) => spec.storageCapacity ?? false,
  TokenRequests: ({ spec }) => spec.tokenRequests?.map((request: Json) => request.audience).join(',') ?? '<unset>',
  RequiresRepublish: ({ spec }) => spec.requiresRepublish ?? false,
  Modes: ({ spec }) => spec.volumeLifecycleModes?.join(',') || '<none>',
};

function parameterName({ spec }: Json): string {
  const reference = spec.paramRef;
  if (!reference) return '<unset>';
  if (reference.name) return `${reference.namespace || '*'}/${reference.name}`;
  return reference.selector ? JSON.stringify(reference.selector) : '<unset>';
}

function parentOf({ spec }: Json): string {
  const { parentRef: parent } = spec;
  if (!parent) return '<none>';
  const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource;
  return `${resource.toLowerCase()}${parent.namespace ? `/${parent.namespace}` : ''}/${parent.name}`;
}

function claimState({ metadata, status }: Json): string {
  const states = metadata.deletionTimestamp ? ['deleted'] : [];
  if (status?.allocation) states.push('allocated', ...(status.reservedFor?.length > 0 ? ['reserved'] : []));
  else if (!metadata.deletionTimestamp) states.push('pending');
  return states.join(',');
}

function available(service: Json): string {
  const condition = service.status?.conditions?.find((candidate: Json) => candidate.type === 'Available');
  if (!condition) return 'Unknown';
  return condition.status !== 'True' && condition.reason ? `${condition.status} (${condition.reason})` : condition.status;
}

const PRIORITY_LEVEL: Cells = {
  Type: ({ spec }) => spec.type,
  NominalConcurrencyShares: ({ spec }) => spec.limited?.nominalConcurrencyShares ?? '<none>',
  Queues: ({ spec }) => spec.limited?.limitResponse?.queuing?.queues ?? '<none>',
  HandSize: ({ spec }) => spec.limited?.limitResponse?.queuing?.handSize ?? '<none>',
  QueueLengthLimit: ({ spec }) => spec.limited?.limitResponse?.queuing?.queueLengthLimit ?? '<none>',
};

export const CLUSTER_CELLS: Record<string, Cells> = {
  '/persistentvolumes': VOLUME,
  '/persistentvolumeclaims': CLAIM,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': { Webhooks: ({ webhooks }) => webhooks?.length ?? 0 },
  'admissionregistration.k8s.io/validatingwebhookconfigurations': { Webhooks: ({ webhooks }) => webhooks?.length ?? 0 },
  'admissionregistration.k8s.io/validatingadmissionpolicies': {
    Validations: ({ spec }) => spec.validations?.length ?? 0,
    ParamKind: ({ spec }) => (spec.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>'),
  },
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': {
    PolicyName: ({ spec }) => spec.policyName ?? '',
    ParamRef: parameterName,
  },
  'apiregistration.k8s.io/apiservices': {
    Service: ({ spec }) => (spec.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local'),
    Available: available,
  },
  'certificates.k8s.io/certificatesigningrequests': {
    SignerName: ({ spec }) => spec.signerName || '<none>',
    Requestor: ({ spec }) => spec.username ?? '',
    RequestedDuration: ({ spec }) => (spec.expirationSeconds === undefined ? '<none>' : formatAge(spec.expirationSeconds * 1000)),
    Condition: requestCondition,
  },
  'coordination.k8s.io/leases': { Holder: ({ spec }) => spec?.holderIdentity ?? '' },
  'flowcontrol.apiserver.k8s.io/flowschemas': {
    PriorityLevel: ({ spec }) => spec.priorityLevelConfiguration?.name ?? '',
    MatchingPrecedence: ({ spec }) => spec.matchingPrecedence,
    DistinguisherMethod: ({ spec }) => spec.distinguisherMethod?.type ?? '<none>',
    MissingPL: (schema) => conditionStatus(schema, 'Dangling') ?? '?',
  },
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': PRIORITY_LEVEL,
  'networking.k8s.io/ingressclasses': { Controller: ({ spec }) => spec?.controller ?? '', Parameters: ingressParameters },
  'networking.k8s.io/ingresses': {
    Class: ({ spec }) => spec.ingressClassName ?? '<none>',
    Hosts: ingressHosts,
    Address: ({ status }) => loadBalancerAddresses(status),
    Ports: ({ spec }) => (spec.tls?.length > 0 ? '80, 443' : '80'),
  },
  'networking.k8s.io/ipaddresses': { ParentRef: parentOf },
  'networking.k8s.io/servicecidrs': { CIDRs: ({ spec }) => (spec.cidrs ?? []).join(',') },
  'node.k8s.io/runtimeclasses': { Handler: ({ handler }) => handler },
  'rbac.authorization.k8s.io/clusterrolebindings': BINDING,
  'rbac.authorization.k8s.io/rolebindings': BINDING,
  'resource.k8s.io/resourceclaims': { State: claimState },
  'resource.k8s.io/resourceslices': {
    Node: ({ spec }) => spec.nodeName ?? '',
    Driver: ({ spec }) => spec.driver,
    Pool: ({ spec }) => spec.pool?.name ?? '',
  },
  'scheduling.k8s.io/priorityclasses': {
    Value: ({ value }) => value ?? 0,
    'Global-Default': ({ globalDefault }) => globalDefault ?? false,
    PreemptionPolicy: ({ preemptionPolicy }) => preemptionPolicy ?? '',
  },
  'storage.k8s.io/csidrivers': CSI_DRIVER,
  'storage.k8s.io/csinodes': { Drivers: ({ spec }) => spec.drivers?.length ?? 0 },
  'storage.k8s.io/csistoragecapacities': {
    StorageClassName: ({ storageClassName }) => storageClassName,
    Capacity: ({ capacity }) => capacity ?? '<unset>',
  },
  'storage.k8s.io/storageclasses': STORAGE_CLASS,
  'storage.k8s.io/volumeattributesclasses': { DriverName: ({ driverName }) => driverName },
  'storage.k8s.io/volumeattachments': {
    Attacher: ({ spec }) => spec.attacher,
    PV: ({ spec }) => spec.source?.persistentVolumeName ?? '',
    Node: ({ spec }) => spec.nodeName,
    Attached: ({ status }) => status?.attached ?? false,
  },
};
