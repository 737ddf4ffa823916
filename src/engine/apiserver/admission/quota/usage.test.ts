import { describe, expect, it } from 'vitest';
import { qualifiedResource, type Json, type KubeObject } from '../../../../kube/object.ts';
import { aPod } from '../testing/a-request.ts';
import { calculateUsage, trackedResources } from './usage.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

function usage(hard: string[], objects: Record<string, KubeObject[]>, spec: Json = {}): Promise<Record<string, string>> {
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'team' },
    spec: { hard: Object.fromEntries(hard.map((name) => [name, '9'])), ...spec },
  };
  return calculateUsage(
    quota,
    (resource) => objects[qualifiedResource(resource)],
    () => NOW,
  );
}

const running = (requests: Json, spec: Json = {}, fields: Json = {}) => ({
  ...aPod({ containers: [{ name: 'c', resources: { requests } }], ...spec }),
  ...fields,
});
const service = (spec: Json): KubeObject => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec });

describe('calculateUsage', () => {
  it('adds up pods, overhead and extended resources included', async () => {
    const pods = [
      running({ cpu: '100m', 'example.com/gpu': '1', 'hugepages-2Mi': '4Mi' }),
      running({ cpu: '1', memory: '1Gi' }, { overhead: { cpu: '50m' } }),
    ];
    expect(await usage(['pods', 'requests.cpu', 'memory', 'requests.example.com/gpu', 'hugepages-2Mi', 'limits.cpu'], { pods })).toEqual({
      pods: '2',
      'requests.cpu': '1150m',
      memory: '1Gi',
      'requests.example.com/gpu': '1',
      'hugepages-2Mi': '4Mi',
      'limits.cpu': '0',
    });
  });

  it('leaves out pods that ended or are overdue, except for their count', async () => {
    const overdue = { metadata: { name: 'x', deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } };
    const pods = [running({ cpu: '1' }, {}, { status: { phase: 'Succeeded' } }), running({ cpu: '1' }, {}, overdue), running({ cpu: '1' })];
    expect(await usage(['pods', 'cpu', 'count/pods'], { pods })).toEqual({ pods: '1', cpu: '1', 'count/pods': '3' });
  });

  it('counts what a pod really has while it is resized', async () => {
    const status = { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '3' } }] };
    expect(await usage(['requests.cpu'], { pods: [running({ cpu: '1' }, {}, { status })] })).toEqual({ 'requests.cpu': '3' });
  });

  it('counts node ports and load balancers of services', async () => {
    const services = [
      service({ type: 'ClusterIP', ports: [{}] }),
      service({ type: 'NodePort', ports: [{}, {}] }),
      service({ type: 'LoadBalancer', ports: [{}] }),
      service({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ nodePort: 30000 }, {}] }),
    ];
    expect(await usage(['services', 'services.nodeports', 'services.loadbalancers'], { services })).toEqual({
      services: '4',
      'services.nodeports': '4',
      'services.loadbalancers': '2',
    });
  });

  it('counts devices of resource claims, of alternatives the most', async () => {
    const requests = [
      { exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } },
      {
        firstAvailable: [
          { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 },
          { deviceClassName: 'tpu', allocationMode: 'All' },
        ],
      },
    ];
    const claims = [{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name: 'c' }, spec: { devices: { requests } } }];
    const names = ['gpu.deviceclass.resource.k8s.io/devices', 'tpu.deviceclass.resource.k8s.io/devices'];
    expect(await usage(names, { 'resourceclaims.resource.k8s.io': claims })).toEqual({ [names[0]]: '3', [names[1]]: '32' });
  });

  it('keeps to the scopes of the quota', async () => {
    const pods = [running({}), running({ cpu: '1' })];
    expect(await usage(['pods'], { pods }, { scopes: ['BestEffort'] })).toEqual({ pods: '1' });
  });

  it('says nothing about resources that do not exist', async () => {
    expect(await usage(['count/widgets.example.com', 'secrets'], { secrets: [] })).toEqual({ secrets: '0' });
  });
});

describe('trackedResources', () => {
  it('are those whose objects the quota counts', () => {
    const spec = { hard: { 'requests.cpu': '1', 'count/widgets.example.com': '2', 'requests.storage': '1Gi' } };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec };
    expect(trackedResources(quota).map(qualifiedResource)).toEqual(['pods', 'persistentvolumeclaims', 'widgets.example.com']);
  });
});
