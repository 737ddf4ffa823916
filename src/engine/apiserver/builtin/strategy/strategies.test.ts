import { describe, expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { testingKinds } from '../testing-kinds.ts';
import { qualityOfService } from './pod-quality.ts';

const { find, created, updated } = testingKinds();
const deployments = find('deployments', 'apps');
const pods = find('pods');
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x' },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { spec: { containers: [] } } },
};
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'a' }] } };

describe('most kinds', () => {
  const stored = created(deployments, { ...DEPLOYMENT, status: { replicas: 5 } });

  test('start at generation 1 without the status they came with', () => {
    expect(stored.metadata.generation).toBe(1);
    expect(stored['status']).toEqual({});
  });

  test('keep their status when the spec is written, and count the change', () => {
    const old = { ...stored, status: { replicas: 2 } } as KubeObject;
    const next = updated(deployments, { ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, replicas: 4 }, status: { replicas: 9 } }, old);
    expect(next['status']).toEqual({ replicas: 2 });
    expect(next.metadata.generation).toBe(2);
  });

  test('do not count a write that changes nothing', () => {
    expect(updated(deployments, DEPLOYMENT, stored).metadata.generation).toBe(1);
  });

  test('keep their spec when the status is written', () => {
    const object = { ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, replicas: 4 }, status: { replicas: 9 } };
    const next = updated(deployments, object, stored, { subresource: 'status' });
    expect([next['spec'].replicas, next['status'].replicas, next.metadata.generation]).toEqual([1, 9, 1]);
  });

  test('a generation cannot be written', () => {
    expect(updated(deployments, { ...DEPLOYMENT, metadata: { name: 'x', generation: 77 } }, stored).metadata.generation).toBe(1);
  });

  test('annotations count for Deployments', () => {
    const next = updated(deployments, { ...DEPLOYMENT, metadata: { name: 'x', annotations: { a: 'b' } } }, stored);
    expect(next.metadata.generation).toBe(2);
  });
});

describe('Pods', () => {
  const amounts = (limits: Json, requests: Json): Json => ({ containers: [{ resources: { limits, requests } }] });
  const qualities: [name: string, spec: Json, quality: string][] = [
    ['nothing asked', amounts(undefined, undefined), 'BestEffort'],
    ['a request', amounts(undefined, { cpu: '1' }), 'Burstable'],
    ['only cpu', amounts({ cpu: '1' }, { cpu: '1' }), 'Burstable'],
    ['equal, written differently', amounts({ cpu: '1', memory: '1Gi' }, { cpu: '1000m', memory: '1024Mi' }), 'Guaranteed'],
    ['more limit than request', amounts({ cpu: '2', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }), 'Burstable'],
  ];
  test.each(qualities)('quality of service with %s is decided', (_name, spec, quality) => expect(qualityOfService(spec)).toBe(quality));

  test('start pending', () => {
    expect(created(pods, { ...POD, status: { phase: 'Running' } })['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  const periods: [name: string, pod: Json, requested: number | undefined, period: number][] = [
    ['not scheduled', { spec: { terminationGracePeriodSeconds: 30 } }, undefined, 0],
    ['running', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } }, undefined, 30],
    ['running, asked to hurry', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } }, 5, 5],
    ['finished', { spec: { nodeName: 'n' }, status: { phase: 'Succeeded' } }, 5, 0],
  ];
  test.each(periods)('grace of a Pod that is %s is decided', (_name, pod, requested, period) => {
    expect(pods.strategy.gracePeriod!(pod, requested)).toBe(period);
  });

  test('ephemeral containers change nothing else', () => {
    const old = created(pods, POD);
    const object = { ...POD, spec: { containers: [{ name: 'other', image: 'z' }], ephemeralContainers: [{ name: 'debug', image: 'd' }] } };
    const next = updated(pods, object, old, { subresource: 'ephemeralcontainers' });
    expect(next['spec'].containers[0].name).toBe('c');
    expect(next['spec'].ephemeralContainers[0].name).toBe('debug');
    expect(next.metadata.generation).toBe(2);
  });

  test('a status written by a client that knows no generations keeps them', () => {
    const old = created(pods, POD);
    old['status'] = {
      phase: 'Running',
      qosClass: 'BestEffort',
      observedGeneration: 3,
      conditions: [{ type: 'Ready', observedGeneration: 3 }],
    };
    const next = updated(pods, { ...POD, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }, old, {
      subresource: 'status',
    });
    expect(next['status']).toMatchObject({ qosClass: 'BestEffort', observedGeneration: 3, conditions: [{ observedGeneration: 3 }] });
  });
});

test('a Job selects the Pods that carry its uid', () => {
  const spec = { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [] } } };
  const job = created(find('jobs', 'batch'), { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x', uid: 'u' }, spec });
  expect(job['spec'].selector).toEqual({ matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } });
  expect(job['spec'].template.metadata.labels).toMatchObject({ app: 'a', 'job-name': 'x', 'controller-uid': 'u' });
});

describe('certificate requests', () => {
  const requests = find('certificatesigningrequests', 'certificates.k8s.io');
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'x' },
    spec: { username: 'mallory' },
  };

  test('are from the user who sent them, whatever they say', () => {
    expect(created(requests, object)['spec']).toMatchObject({ username: 'alice', groups: ['users'] });
  });

  test('are approved through their own subresource only', () => {
    const old = created(requests, object);
    const approved = { ...object, status: { certificate: 'Yg==', conditions: [{ type: 'Approved', status: 'True' }] } };
    const next = updated(requests, approved, old, { subresource: 'approval' });
    expect(next['status']).toEqual({
      conditions: [
        { type: 'Approved', status: 'True', lastUpdateTime: '2024-05-06T07:08:09Z', lastTransitionTime: '2024-05-06T07:08:09Z' },
      ],
    });
    expect(updated(requests, approved, old)['status']).toEqual({});
  });
});

test('a Namespace keeps its finalizers but for its own subresource', () => {
  const namespaces = find('namespaces');
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } };
  const old = created(namespaces, object);
  expect(old['spec'].finalizers).toEqual(['kubernetes']);
  expect(updated(namespaces, object, old)['spec'].finalizers).toEqual(['kubernetes']);
  expect(updated(namespaces, object, old, { subresource: 'finalize' })['spec']).toEqual({});
});

test('a DaemonSet counts the changes of its template in an annotation', () => {
  const sets = find('daemonsets', 'apps');
  const object = { ...DEPLOYMENT, kind: 'DaemonSet' };
  const old = created(sets, object);
  expect(old.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '1' });
  const template = { spec: { containers: [{ name: 'n', image: 'i' }] } };
  const next = updated(sets, { ...object, spec: { ...object.spec, template } }, old);
  expect(next.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '2' });
});
