import type { Json } from '../../src/kube/object.ts';

/** An object, and what is written over it: compared with what kube-apiserver makes of the same write. */
export interface UpdateCase {
  name: string;
  collection: string;
  object: Json;
  subresource?: string;
  change: (object: Json) => void;
}

const TEMPLATE = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'a:1' }] } };
const SELECTOR = { matchLabels: { app: 'a' } };
let count = 0;

function namespaced(path: string, kind: string, fields: Json): { collection: string; object: Json } {
  count += 1;
  const group = path.startsWith('/api/v1') ? 'v1' : path.split('/').slice(2, 4).join('/');
  const collection = path.replace(/\/([^/]+)$/, '/namespaces/default/$1');
  return { collection, object: { apiVersion: group, kind, metadata: { name: `u${count}` }, ...fields } };
}

function clusterScoped(collection: string, kind: string, fields: Json): { collection: string; object: Json } {
  return { ...namespaced(collection, kind, fields), collection };
}

function deployment(): { collection: string; object: Json } {
  return namespaced('/apis/apps/v1/deployments', 'Deployment', { spec: { selector: SELECTOR, template: TEMPLATE } });
}

function service(spec: Json): { collection: string; object: Json } {
  return namespaced('/api/v1/services', 'Service', { spec: { ports: [{ port: 80 }], ...spec } });
}

function pod(): { collection: string; object: Json } {
  return namespaced('/api/v1/pods', 'Pod', { spec: { containers: [{ name: 'c', image: 'a' }], nodeName: 'n' } });
}

function daemonSet(): { collection: string; object: Json } {
  return namespaced('/apis/apps/v1/daemonsets', 'DaemonSet', { spec: { selector: SELECTOR, template: TEMPLATE } });
}

const WORKLOADS: UpdateCase[] = [
  { name: 'a Deployment is scaled', ...deployment(), change: ({ spec }) => (spec.replicas = 3) },
  { name: 'a Deployment is written as it is', ...deployment(), change: () => {} },
  { name: 'a Deployment is annotated', ...deployment(), change: ({ metadata }) => (metadata.annotations = { a: 'b' }) },
  { name: 'a Deployment is labelled', ...deployment(), change: ({ metadata }) => (metadata.labels = { a: 'b' }) },
  { name: 'a Deployment is written with a status', ...deployment(), change: (object) => (object.status = { replicas: 4 }) },
  {
    name: 'the status of a Deployment is written with another spec and labels',
    ...deployment(),
    subresource: 'status',
    change(object) {
      object.spec.replicas = 9;
      object.metadata.labels = { a: 'b' };
      object.metadata.annotations = { a: 'b' };
      object.status = { replicas: 1, readyReplicas: 1, observedGeneration: 1 };
    },
  },
  { name: 'the template of a DaemonSet changes', ...daemonSet(), change: ({ spec }) => (spec.template.spec.containers[0].image = 'a:2') },
  { name: 'a DaemonSet waits longer', ...daemonSet(), change: ({ spec }) => (spec.minReadySeconds = 5) },
  {
    name: 'a Job is suspended',
    ...namespaced('/apis/batch/v1/jobs', 'Job', { spec: { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } } } }),
    change: ({ spec }) => (spec.suspend = true),
  },
  {
    name: 'an endpoint slice is labelled',
    ...namespaced('/apis/discovery.k8s.io/v1/endpointslices', 'EndpointSlice', { addressType: 'IPv4', endpoints: [] }),
    change: ({ metadata }) => (metadata.labels = { a: 'b' }),
  },
  { name: 'the image of a Pod changes', ...pod(), change: ({ spec }) => (spec.containers[0].image = 'a:2') },
  { name: 'a Pod is labelled', ...pod(), change: ({ metadata }) => (metadata.labels = { a: 'b' }) },
  {
    name: 'the status of a Pod is written',
    ...pod(),
    subresource: 'status',
    change(object) {
      object.spec.nodeName = 'other';
      object.status = { phase: 'Running', podIP: '10.1.1.1', conditions: [{ type: 'Ready', status: 'True' }] };
    },
  },
  {
    name: 'a Pod gets an ephemeral container',
    ...pod(),
    subresource: 'ephemeralcontainers',
    change(object) {
      object.metadata.labels = { a: 'b' };
      object.spec.ephemeralContainers = [{ name: 'debug', image: 'd' }];
    },
  },
];

const SERVICES: UpdateCase[] = [
  { name: 'a Service gets node ports', ...service({}), change: ({ spec }) => (spec.type = 'NodePort') },
  { name: 'a Service loses node ports', ...service({ type: 'NodePort' }), change: ({ spec }) => (spec.type = 'ClusterIP') },
  {
    name: 'a Service becomes a name',
    ...service({}),
    change: ({ spec }) => Object.assign(spec, { type: 'ExternalName', externalName: 'a.example' }),
  },
  {
    name: 'a Service stops being a name',
    ...service({ type: 'ExternalName', externalName: 'a.example' }),
    change: ({ spec }) => Object.assign(spec, { type: 'ClusterIP', externalName: '' }),
  },
  {
    name: 'a client that knows no addresses writes a Service',
    ...service({ type: 'NodePort' }),
    change: (object) => (object.spec = { type: 'NodePort', ports: [{ port: 80 }, { port: 81, name: 'b' }].slice(0, 1) }),
  },
  {
    name: 'a balanced Service prefers local endpoints',
    ...service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
    change: ({ spec }) => (spec.externalTrafficPolicy = 'Cluster'),
  },
  { name: 'a balanced Service becomes plain', ...service({ type: 'LoadBalancer' }), change: ({ spec }) => (spec.type = 'ClusterIP') },
];

const OTHERS: UpdateCase[] = [
  {
    name: 'a Namespace is written without finalizers',
    ...clusterScoped('/api/v1/namespaces', 'Namespace', {}),
    change: (object) => (object.spec = {}),
  },
  {
    name: 'a Namespace loses its name label',
    ...clusterScoped('/api/v1/namespaces', 'Namespace', {}),
    change: ({ metadata }) => (metadata.labels = {}),
  },
  {
    name: 'the status of a volume changes',
    ...clusterScoped('/api/v1/persistentvolumes', 'PersistentVolume', {
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/data' } },
    }),
    subresource: 'status',
    change: (object) => (object.status = { phase: 'Available' }),
  },
  {
    name: 'a Secret is written as text',
    ...namespaced('/api/v1/secrets', 'Secret', { data: { a: 'Yg==' } }),
    change: (object) => (object.stringData = { c: 'd' }),
  },
  {
    name: 'a budget changes',
    ...namespaced('/apis/policy/v1/poddisruptionbudgets', 'PodDisruptionBudget', { spec: { selector: SELECTOR, minAvailable: 1 } }),
    change: ({ spec }) => (spec.minAvailable = 2),
  },
  {
    name: 'a network policy changes',
    ...namespaced('/apis/networking.k8s.io/v1/networkpolicies', 'NetworkPolicy', { spec: { podSelector: {} } }),
    change: ({ spec }) => (spec.podSelector = SELECTOR),
  },
  {
    name: 'the metadata of a flow schema is written with its status',
    ...clusterScoped('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', 'FlowSchema', {
      spec: { priorityLevelConfiguration: { name: 'global-default' } },
    }),
    subresource: 'status',
    change(object) {
      object.metadata.labels = { a: 'b' };
      object.status = { conditions: [{ type: 'Dangling', status: 'False' }] };
    },
  },
  {
    name: 'an autoscaler of v1 changes',
    ...namespaced('/apis/autoscaling/v1/horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    }),
    change: ({ spec }) => (spec.maxReplicas = 5),
  },
];

export const UPDATES: UpdateCase[] = [...WORKLOADS, ...SERVICES, ...OTHERS];
