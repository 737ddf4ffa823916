import type { Json } from '../../src/kube/object.ts';

/** Objects whose status shows in their Table row. */
export interface ObjectWithStatus {
  collection: string;
  object: Json;
}

const LONG_AGO = '2024-01-01T00:00:00Z';
let count = 0;

function container(name: string, state: Json, fields: Json = {}): Json {
  return { name, image: 'a', imageID: 'a', ready: false, restartCount: 0, state, lastState: {}, ...fields };
}

const RUNNING = { running: { startedAt: LONG_AGO } };
const READY = { type: 'Ready', status: 'True' };

function ended(exitCode: number, fields: Json = {}): Json {
  return { terminated: { exitCode, startedAt: LONG_AGO, finishedAt: LONG_AGO, ...fields } };
}

function pod(status: Json, spec: Json = {}): ObjectWithStatus {
  count += 1;
  return {
    collection: '/api/v1/namespaces/default/pods',
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `status-${count}` },
      spec: {
        containers: [
          { name: 'a', image: 'a' },
          { name: 'b', image: 'b' },
        ],
        ...spec,
      },
      status,
    },
  };
}

const INIT = {
  initContainers: [
    { name: 'i', image: 'i' },
    { name: 's', image: 's', restartPolicy: 'Always' },
  ],
};

const PODS: ObjectWithStatus[] = [
  pod({
    phase: 'Running',
    podIPs: [{ ip: '10.1.1.1' }],
    podIP: '10.1.1.1',
    conditions: [READY],
    containerStatuses: [container('a', RUNNING, { ready: true }), container('b', RUNNING)],
  }),
  pod({ phase: 'Running', containerStatuses: [container('a', RUNNING, { ready: true, restartCount: 3, lastState: ended(1) })] }),
  pod({ phase: 'Pending', containerStatuses: [container('a', { waiting: { reason: 'ImagePullBackOff' } }), container('b', RUNNING)] }),
  pod({ phase: 'Running', containerStatuses: [container('a', ended(1, { reason: 'Error' })), container('b', RUNNING, { ready: true })] }),
  pod({ phase: 'Running', containerStatuses: [container('a', ended(137))] }),
  pod({ phase: 'Running', containerStatuses: [container('a', ended(0, { signal: 9 }))] }),
  pod({ phase: 'Succeeded', containerStatuses: [container('a', ended(0, { reason: 'Completed' }))] }),
  pod({
    phase: 'Running',
    conditions: [READY],
    containerStatuses: [container('a', ended(0, { reason: 'Completed' })), container('b', RUNNING, { ready: true })],
  }),
  pod({
    phase: 'Running',
    containerStatuses: [container('a', ended(0, { reason: 'Completed' })), container('b', RUNNING, { ready: true })],
  }),
  pod({ phase: 'Failed', reason: 'Evicted' }),
  pod({ phase: 'Pending', initContainerStatuses: [container('i', { waiting: { reason: 'PodInitializing' } })] }, INIT),
  pod({ phase: 'Pending', initContainerStatuses: [container('i', { waiting: { reason: 'ErrImagePull' } })] }, INIT),
  pod({ phase: 'Pending', initContainerStatuses: [container('i', ended(3), { restartCount: 2, lastState: ended(3) })] }, INIT),
  pod(
    {
      phase: 'Pending',
      initContainerStatuses: [
        container('i', ended(0)),
        container('s', RUNNING, { started: true, ready: true, restartCount: 1, lastState: ended(1) }),
      ],
    },
    INIT,
  ),
  pod(
    { phase: 'Running', conditions: [{ type: 'example.com/g', status: 'True' }] },
    { readinessGates: [{ conditionType: 'example.com/g' }, { conditionType: 'example.com/h' }], nodeName: 'n' },
  ),
];

const OTHERS: ObjectWithStatus[] = [
  {
    collection: '/api/v1/nodes',
    object: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'status', labels: { 'node-role.kubernetes.io/b': '', 'node-role.kubernetes.io/a': '', 'kubernetes.io/role': 'c' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
        nodeInfo: {
          kubeletVersion: 'v1',
          osImage: 'o',
          architecture: '',
          bootID: '',
          containerRuntimeVersion: '',
          kernelVersion: '',
          kubeProxyVersion: '',
          machineID: '',
          operatingSystem: '',
          systemUUID: '',
        },
      },
    },
  },
  {
    collection: '/api/v1/namespaces/default/resourcequotas',
    object: {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'status' },
      spec: { hard: { pods: '9', 'limits.cpu': '2' } },
      status: { hard: { pods: '9', 'limits.cpu': '2', 'requests.memory': '1Gi' }, used: { pods: '1', 'limits.cpu': '500m' } },
    },
  },
  {
    collection: '/api/v1/namespaces/default/services',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'status' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }], externalIPs: ['1.2.3.4'] },
      status: { loadBalancer: { ingress: [{ ip: '5.6.7.8' }, { hostname: 'a.very.long.name.example' }] } },
    },
  },
  {
    collection: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    object: {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'status' },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          { type: 'External', external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5' } } },
          { type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'AverageValue', averageValue: '1' } } },
        ],
      },
      status: {
        currentReplicas: 2,
        desiredReplicas: 2,
        currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '4m' } } }],
        conditions: [{ type: 'AbleToScale', status: 'True' }],
      },
    },
  },
  {
    collection: '/apis/batch/v1/namespaces/default/jobs',
    object: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'status' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'a' }] } } },
      status: {
        startTime: '2024-01-01T00:00:00Z',
        completionTime: '2024-01-01T00:05:30Z',
        succeeded: 1,
        conditions: [
          { type: 'SuccessCriteriaMet', status: 'True' },
          { type: 'Complete', status: 'True' },
        ],
      },
    },
  },
];

export const STATUSES: ObjectWithStatus[] = [...PODS, ...OTHERS];
