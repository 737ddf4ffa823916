import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { testingKinds } from '../testing-kinds.ts';
import { isLatest } from './image-tag.ts';

const { find } = testingKinds();

function decoded(name: string, group: string, object: Json): Json {
  const resource = find(name, group);
  return resource.strategy.decode({ metadata: {}, ...object }, resource.version);
}

describe('the tag of an image', () => {
  const cases: [image: string, latest: boolean][] = [
    ['a', true],
    ['a:latest', true],
    ['registry.example:5000/a', true],
    ['a:1', false],
    [`a@sha256:${'a'.repeat(64)}`, false],
    [`a:latest@sha256:${'a'.repeat(64)}`, true],
    ['A', false],
    ['', false],
  ];
  test.each(cases)('%s is latest: %s', (image, latest) => expect(isLatest(image)).toBe(latest));
});

describe('defaults that depend on other fields', () => {
  const container = { name: 'c', image: 'a', resources: { limits: { cpu: '1' } } };

  test('requests follow limits in Pods, not in templates', () => {
    const pod = decoded('pods', '', { spec: { containers: [container] } });
    const deployment = decoded('deployments', 'apps', { spec: { template: { spec: { containers: [container] } } } });
    expect(pod.spec.containers[0].resources).toEqual({ limits: { cpu: '1' }, requests: { cpu: '1' } });
    expect(deployment.spec.template.spec.containers[0].resources).toEqual({ limits: { cpu: '1' } });
  });

  test('ports of a Pod on the network of its host are ports of the host', () => {
    const pod = decoded('pods', '', { spec: { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 80 }] }] } });
    expect(pod.spec.containers[0].ports).toEqual([{ hostPort: 80, containerPort: 80, protocol: 'TCP' }]);
  });

  test('only a Deployment that rolls gets limits for it', () => {
    const strategy = (given: Json): Json => decoded('deployments', 'apps', { spec: { strategy: given } }).spec.strategy;
    expect(strategy({})).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } });
    expect(strategy({ rollingUpdate: { maxSurge: 0 } }).rollingUpdate).toEqual({ maxUnavailable: '25%', maxSurge: 0 });
    expect(strategy({ type: 'Recreate' })).toEqual({ type: 'Recreate' });
  });

  test('a Job runs once unless told how often', () => {
    const spec = (given: Json): Json => decoded('jobs', 'batch', { spec: given }).spec;
    expect(spec({})).toMatchObject({ completions: 1, parallelism: 1, backoffLimit: 6 });
    expect(spec({ parallelism: 2 })).not.toHaveProperty('completions');
    expect(spec({ backoffLimitPerIndex: 1 })).toMatchObject({ backoffLimit: 2_147_483_647 });
  });

  test('the Jobs that a CronJob describes keep their fields empty', () => {
    const cronJob = decoded('cronjobs', 'batch', { spec: { jobTemplate: { spec: {} } } });
    expect(cronJob.spec.jobTemplate.spec).not.toHaveProperty('completions');
  });

  test('a Namespace carries its name as a label', () => {
    expect(decoded('namespaces', '', { metadata: { name: 'x' } }).metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'x' });
  });

  test('a network policy with egress rules is about both directions', () => {
    expect(decoded('networkpolicies', 'networking.k8s.io', { spec: { egress: [{}] } }).spec.policyTypes).toEqual(['Ingress', 'Egress']);
  });

  test('default objects are not shared between decoded objects', () => {
    const first = decoded('pods', '', { spec: { containers: [] } });
    first.spec.securityContext.runAsNonRoot = true;
    expect(decoded('pods', '', { spec: { containers: [] } }).spec.securityContext).toEqual({});
  });
});
