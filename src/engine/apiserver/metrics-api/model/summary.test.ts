import { expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { readSummary } from './summary.ts';

const time = '2026-01-01T00:00:00Z';
const stats = (nano: unknown, bytes: unknown): Json => ({ cpu: { time, usageNanoCores: nano }, memory: { time, workingSetBytes: bytes } });
const podRef = { name: 'web', namespace: 'shop', uid: '1' };

test('a summary is read for the node and for each container', () => {
  const { node, pods } = readSummary({
    node: { nodeName: 'a', ...stats(250_000_000, 1024) },
    pods: [{ podRef, containers: [{ name: 'c', ...stats(1, 2) }] }],
  });
  expect(node).toEqual({ cpuNanocores: 250_000_000, memoryBytes: 1024, at: new Date(time), windowMs: 10_000 });
  expect([...pods]).toEqual([
    ['shop/web', { uid: '1', containers: [{ name: 'c', cpuNanocores: 1, memoryBytes: 2, at: new Date(time), windowMs: 10_000 }] }],
  ]);
});

test.each<[string, Json]>([
  [
    'one container has no rate yet',
    {
      podRef,
      containers: [
        { name: 'c', ...stats(1, 2) },
        { name: 'd', cpu: { time }, memory: { time, workingSetBytes: 5 } },
      ],
    },
  ],
  [
    'a rate is over no time',
    { podRef, containers: [{ name: 'c', cpu: { time, usageNanoCores: 0, windowSeconds: 0 }, memory: { workingSetBytes: 1 } }] },
  ],
  ['there are no containers', { podRef, containers: [] }],
  ['an amount is negative', { podRef, containers: [{ name: 'c', ...stats(-1, 2) }] }],
  ['an amount is text', { podRef, containers: [{ name: 'c', ...stats('1', 2) }] }],
  ['the time is none', { podRef, containers: [{ name: 'c', cpu: { time: 'now', usageNanoCores: 1 }, memory: { workingSetBytes: 1 } }] }],
  ['nobody knows whose it is', { containers: [{ name: 'c', ...stats(1, 2) }] }],
])('a Pod is left out when %s', (_name, pod) => {
  expect(readSummary({ pods: [pod] }).pods.size).toBe(0);
});

test.each([undefined, null, {}, { pods: 'none' }, 7])('%j tells nothing', (summary) => {
  expect(readSummary(summary)).toEqual({ node: undefined, pods: new Map() });
});
