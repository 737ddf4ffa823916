import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { claimRates, measuredRates, podRates, runRates } from './usage-rates.ts';

const object = (rest: Json): KubeObject => ({ apiVersion: 'v1', kind: 'Any', metadata: { name: 'it' }, ...rest });
const container = (cpu: string, rest: object = {}) => ({ resources: { requests: { cpu } }, ...rest });

test.each<[string, Json, number | undefined]>([
  ['before it has a node', { containers: [container('1')] }, undefined],
  ['its containers together', { nodeName: 'n', containers: [container('250m'), container('1')] }, 1.25],
  ['an init container that is larger', { nodeName: 'n', containers: [container('1')], initContainers: [container('3')] }, 3],
  [
    'sidecars beside its containers',
    { nodeName: 'n', containers: [container('1')], initContainers: [container('1', { restartPolicy: 'Always' }), container('500m')] },
    2,
  ],
  [
    'its own requests before those of its containers',
    { nodeName: 'n', resources: { requests: { cpu: '4' } }, containers: [container('1')] },
    4,
  ],
  ['its overhead', { nodeName: 'n', overhead: { cpu: '100m' }, containers: [container('1')] }, 1.1],
  ['nothing requested', { nodeName: 'n', containers: [{}] }, 0],
])('a Pod counts %s', (_name, spec, expected) => {
  expect(podRates(object({ spec, status: { phase: 'Running' } }))?.cpuSeconds).toBe(expected);
});

test('a Pod that has ended counts no more', () => {
  const spec = { nodeName: 'n', containers: [container('1')] };
  for (const phase of ['Succeeded', 'Failed']) expect(podRates(object({ spec, status: { phase } }))).toBeUndefined();
});

test('an hour of a gibibyte is one', () => {
  const spec = { nodeName: 'n', containers: [{ resources: { requests: { memory: '1Gi' } } }] };
  expect(podRates(object({ spec }))!.memoryGiBHours! * 3600).toBeCloseTo(1);
  expect(claimRates(object({ status: { phase: 'Bound', capacity: { storage: '5Gi' } } }))!.storageGiBHours! * 3600).toBeCloseTo(5);
  expect(claimRates(object({ status: { phase: 'Pending' } }))).toBeUndefined();
});

test('measurements are those of all containers', () => {
  const containers = [{ usage: { cpu: '250m', memory: '512Mi' } }, { usage: { cpu: '1500000000n', memory: '512Mi' } }];
  const { cpuUsedSeconds, memoryUsedGiBHours } = measuredRates(object({ containers }));
  expect(cpuUsedSeconds).toBe(1.75);
  expect(memoryUsedGiBHours! * 3600).toBeCloseTo(1);
});

test('a Run counts while it runs', () => {
  for (const phase of ['Running', 'Ready']) expect(runRates(object({ status: { phase } }))).toEqual({ runSeconds: 1 });
  for (const phase of ['Pending', 'Scheduled', 'Succeeded']) expect(runRates(object({ status: { phase } }))).toBeUndefined();
});
