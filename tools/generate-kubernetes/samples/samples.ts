import type { Json } from '../../../src/kube/object.ts';
import { FULL_POD_SPEC, podTemplate, SMALL_POD_SPEC } from './pod-spec.ts';

/** An object that kube-apiserver accepts as it is, and the collection to create it in. */
export interface Sample {
  collection: string;
  object: Json;
}

const LABELS = { app: 'a' };
const SELECTOR = { matchLabels: LABELS };
const NEVER = { ...SMALL_POD_SPEC, restartPolicy: 'Never' };
const CABUNDLE_SERVICE = { service: { namespace: 'default', name: 'hook' } };
const RULE = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const OBJECT_SCHEMA = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };

function namespaced(collection: string, kind: string, fields: Json): Sample {
  const group = collection.startsWith('/api/v1') ? 'v1' : collection.split('/').slice(2, 4).join('/');
  const path = collection.replace(/\/([^/]+)$/, '/namespaces/default/$1');
  return { collection: path, object: { apiVersion: group, kind, metadata: { name: 'sample' }, ...fields } };
}

function clusterScoped(collection: string, kind: string, fields: Json, name = 'sample'): Sample {
  const group = collection.startsWith('/api/v1') ? 'v1' : collection.split('/').slice(2, 4).join('/');
  return { collection, object: { apiVersion: group, kind, metadata: { name }, ...fields } };
}

const WORKLOADS: Sample[] = [
  namespaced('/api/v1/podtemplates', 'PodTemplate', { template: podTemplate(FULL_POD_SPEC) }),
  namespaced('/api/v1/podtemplates', 'PodTemplate', { template: podTemplate(SMALL_POD_SPEC) }),
  namespaced('/api/v1/replicationcontrollers', 'ReplicationController', { spec: { template: podTemplate(SMALL_POD_SPEC) } }),
  namespaced('/apis/apps/v1/deployments', 'Deployment', { spec: { selector: SELECTOR, template: podTemplate(SMALL_POD_SPEC) } }),
  namespaced('/apis/apps/v1/replicasets', 'ReplicaSet', { spec: { selector: SELECTOR, template: podTemplate(SMALL_POD_SPEC) } }),
  namespaced('/apis/apps/v1/daemonsets', 'DaemonSet', { spec: { selector: SELECTOR, template: podTemplate(SMALL_POD_SPEC) } }),
  namespaced('/apis/apps/v1/statefulsets', 'StatefulSet', {
    spec: {
      serviceName: 'x',
      selector: SELECTOR,
      template: podTemplate(SMALL_POD_SPEC),
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      ],
    },
  }),
  namespaced('/apis/apps/v1/deployments', 'Deployment', {
    spec: { selector: SELECTOR, template: podTemplate(SMALL_POD_SPEC), strategy: { rollingUpdate: {} } },
  }),
  namespaced('/apis/apps/v1/daemonsets', 'DaemonSet', {
    spec: { selector: SELECTOR, template: podTemplate(SMALL_POD_SPEC), updateStrategy: { rollingUpdate: {} } },
  }),
  namespaced('/apis/apps/v1/statefulsets', 'StatefulSet', {
    spec: {
      serviceName: 'x',
      selector: SELECTOR,
      template: podTemplate(SMALL_POD_SPEC),
      updateStrategy: { rollingUpdate: {} },
      persistentVolumeClaimRetentionPolicy: {},
    },
  }),
  namespaced('/apis/apps/v1/controllerrevisions', 'ControllerRevision', { revision: 1, data: { a: 1 } }),
  namespaced('/apis/batch/v1/jobs', 'Job', {
    spec: {
      template: podTemplate(NEVER),
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    },
  }),
  namespaced('/apis/batch/v1/cronjobs', 'CronJob', {
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: podTemplate(NEVER) } } },
  }),
];

const CORE: Sample[] = [
  namespaced('/api/v1/configmaps', 'ConfigMap', { data: { a: 'b' } }),
  namespaced('/api/v1/secrets', 'Secret', { data: { a: 'Yg==' } }),
  namespaced('/api/v1/serviceaccounts', 'ServiceAccount', {}),
  namespaced('/api/v1/endpoints', 'Endpoints', { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }),
  namespaced('/api/v1/limitranges', 'LimitRange', { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }),
  namespaced('/api/v1/resourcequotas', 'ResourceQuota', { spec: { hard: { pods: '1' } } }),
  namespaced('/api/v1/persistentvolumeclaims', 'PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  namespaced('/api/v1/events', 'Event', { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } }),
  clusterScoped('/api/v1/persistentvolumes', 'PersistentVolume', {
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/data' } },
  }),
  clusterScoped(
    '/api/v1/persistentvolumes',
    'PersistentVolume',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage', lun: 0 },
      },
    },
    'iscsi',
  ),
  clusterScoped(
    '/api/v1/persistentvolumes',
    'PersistentVolume',
    { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, rbd: { monitors: ['10.0.0.1:6789'], image: 'image' } } },
    'rbd',
  ),
  clusterScoped(
    '/api/v1/persistentvolumes',
    'PersistentVolume',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        azureDisk: { diskName: 'd', diskURI: 'https://blob.example/d' },
      },
    },
    'azure',
  ),
  clusterScoped(
    '/api/v1/persistentvolumes',
    'PersistentVolume',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        scaleIO: { gateway: 'https://gateway.example', system: 's', volumeName: 'v', secretRef: { name: 's' } },
      },
    },
    'scaleio',
  ),
  clusterScoped('/api/v1/nodes', 'Node', {}),
];

const NETWORKING: Sample[] = [
  namespaced('/api/v1/services', 'Service', { spec: { selector: LABELS, ports: [{ port: 80 }] } }),
  namespaced('/apis/networking.k8s.io/v1/networkpolicies', 'NetworkPolicy', {
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
  }),
  namespaced('/apis/networking.k8s.io/v1/ingresses', 'Ingress', {
    spec: {
      rules: [
        {
          host: 'a.example',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }] },
        },
      ],
    },
  }),
  clusterScoped('/apis/networking.k8s.io/v1/ingressclasses', 'IngressClass', {
    spec: { controller: 'example.com/c', parameters: { kind: 'K', name: 'n' } },
  }),
  namespaced('/apis/discovery.k8s.io/v1/endpointslices', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.1.1'] }],
    ports: [{ port: 80 }],
  }),
];

const POLICY: Sample[] = [
  namespaced('/apis/policy/v1/poddisruptionbudgets', 'PodDisruptionBudget', { spec: { selector: SELECTOR, minAvailable: 1 } }),
  namespaced('/apis/rbac.authorization.k8s.io/v1/roles', 'Role', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  namespaced('/apis/rbac.authorization.k8s.io/v1/rolebindings', 'RoleBinding', {
    roleRef: { kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'User', name: 'u' }],
  }),
  clusterScoped('/apis/rbac.authorization.k8s.io/v1/clusterroles', 'ClusterRole', {
    rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
  }),
  clusterScoped('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', 'ClusterRoleBinding', {
    roleRef: { kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'Group', name: 'g' }],
  }),
  namespaced('/apis/autoscaling/v2/horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  }),
  namespaced('/apis/autoscaling/v1/horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  }),
  namespaced('/apis/coordination.k8s.io/v1/leases', 'Lease', { spec: {} }),
  clusterScoped('/apis/scheduling.k8s.io/v1/priorityclasses', 'PriorityClass', { value: 1 }),
  clusterScoped('/apis/node.k8s.io/v1/runtimeclasses', 'RuntimeClass', { handler: 'h' }),
  clusterScoped('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', 'FlowSchema', {
    spec: { priorityLevelConfiguration: { name: 'global-default' } },
  }),
  clusterScoped('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', 'PriorityLevelConfiguration', {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } },
  }),
  clusterScoped('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', 'PriorityLevelConfiguration', {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  }),
];

const EXTENSION: Sample[] = [
  clusterScoped('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', {
    webhooks: [
      { name: 'a.example.com', clientConfig: CABUNDLE_SERVICE, rules: [RULE], sideEffects: 'None', admissionReviewVersions: ['v1'] },
    ],
  }),
  clusterScoped('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', {
    webhooks: [
      { name: 'a.example.com', clientConfig: CABUNDLE_SERVICE, rules: [RULE], sideEffects: 'None', admissionReviewVersions: ['v1'] },
    ],
  }),
  clusterScoped('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {
    spec: { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression: 'true' }] },
  }),
  clusterScoped('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', {
    spec: { policyName: 'p', validationActions: ['Deny'], matchResources: {} },
  }),
  clusterScoped(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    'CustomResourceDefinition',
    {
      spec: {
        group: 'samples.example.com',
        scope: 'Namespaced',
        names: { plural: 'samples', kind: 'Sample' },
        versions: [{ name: 'v1', served: true, storage: true, schema: OBJECT_SCHEMA }],
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: CABUNDLE_SERVICE },
        },
      },
    },
    'samples.samples.example.com',
  ),
  clusterScoped(
    '/apis/apiregistration.k8s.io/v1/apiservices',
    'APIService',
    {
      spec: {
        group: 'samples.example.com',
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 'hook' },
      },
    },
    'v1.samples.example.com',
  ),
];

const STORAGE: Sample[] = [
  clusterScoped('/apis/storage.k8s.io/v1/storageclasses', 'StorageClass', { provisioner: 'example.com/p' }),
  clusterScoped('/apis/storage.k8s.io/v1/csidrivers', 'CSIDriver', { spec: {} }),
  clusterScoped('/apis/storage.k8s.io/v1/csinodes', 'CSINode', { spec: { drivers: [] } }),
  clusterScoped('/apis/storage.k8s.io/v1/volumeattachments', 'VolumeAttachment', {
    spec: { attacher: 'csi.example', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
  }),
  namespaced('/apis/storage.k8s.io/v1/csistoragecapacities', 'CSIStorageCapacity', { storageClassName: 's' }),
  namespaced('/apis/resource.k8s.io/v1/resourceclaims', 'ResourceClaim', {
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
  }),
  clusterScoped('/apis/resource.k8s.io/v1/deviceclasses', 'DeviceClass', { spec: {} }),
];

/** Objects that set as little as they may, so that what comes back beyond them is what the server adds. */
export const SAMPLES: Sample[] = [...WORKLOADS, ...CORE, ...NETWORKING, ...POLICY, ...EXTENSION, ...STORAGE];
