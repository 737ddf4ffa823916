import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { requestsOf } from './requests.ts';

const pod = (spec: Json): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec });
const container = (name: string, cpu?: string, more: Json = {}): Json => ({ name, resources: cpu ? { requests: { cpu } } : {}, ...more });
const SIDECAR = { restartPolicy: 'Always' };
const inPod = (cpu: string) => ({ resources: { requests: { cpu } } });

test.each<[string, Json, string, number | string]>([
  ['all containers', { containers: [container('x', '100m'), container('y', '1')] }, '', 1100],
  [
    'sidecars too',
    { containers: [container('x', '100m')], initContainers: [container('s', '50m', SIDECAR), container('i', '5')] },
    '',
    150,
  ],
  ['one container', { containers: [container('x', '100m'), container('y', '1')] }, 'y', 1000],
  ['a container without', { containers: [container('x')] }, '', 'missing request for cpu in container x of Pod a'],
  ['another container without does not matter', { containers: [container('x'), container('y', '1')] }, 'y', 1000],
  ['no such container', { containers: [container('x', '1')] }, 'z', 'container z not found in Pod a'],
  ['the Pod as a whole', { ...inPod('3'), containers: [container('x', '1'), container('y')] }, '', 3000],
  ['the Pod as a whole, and what it costs to run', { ...inPod('3'), overhead: { cpu: '10m' }, containers: [container('x')] }, '', 3010],
  ['a named container of such a Pod', { ...inPod('3'), containers: [container('x', '1')] }, 'x', 1000],
  [
    'the whole without the resource: what the containers need at most',
    { resources: { requests: { memory: '1Gi' } }, containers: [container('x', '1')], initContainers: [container('i', '2')] },
    '',
    2000,
  ],
  [
    'the whole without the resource anywhere',
    { resources: { requests: { memory: '1Gi' } }, containers: [container('x')] },
    '',
    'missing pod-level request for cpu in Pod a',
  ],
])('%s', (_name, spec, name, expected) => {
  const read = () => requestsOf([pod(spec)], 'cpu', name).get('a');
  if (typeof expected === 'string') expect(read).toThrow(expected);
  else expect(read()).toBe(expected);
});
