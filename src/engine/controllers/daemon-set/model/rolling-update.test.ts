import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { FailedPodBackOff } from '../failed-pod-back-off.ts';
import { planDaemons, type DaemonState } from './plan.ts';
import { rollingUpdateStep } from './rolling-update.ts';

const aNode = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

/** Pods per node as letters: `o` old and ready, `O` old and not ready, `n` new and ready, `N` new and not ready, `x` failed. */
function aState(rollingUpdate: Json, nodes: Record<string, string>): DaemonState {
  const podsByNode = new Map<string, KubeObject[]>();
  for (const [node, letters] of Object.entries(nodes))
    if (letters)
      podsByNode.set(
        node,
        Array.from(letters).map((letter) => aPod(node, letter)),
      );
  const spec = { template: { spec: {} }, updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
  const set = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 's' }, spec };
  return { set, nodes: Object.keys(nodes).map(aNode), podsByNode, hash: 'new', now: 0 };
}

function aPod(node: string, letter: string): KubeObject {
  const status = letter === letter.toLowerCase() ? 'True' : 'False';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${node}-${letter}`, labels: { 'controller-revision-hash': letter.toLowerCase() === 'n' ? 'new' : 'old' } },
    spec: { nodeName: node },
    status: { phase: letter === 'x' ? 'Failed' : 'Running', conditions: [{ type: 'Ready', status }] },
  };
}

const deleted = (pods: readonly KubeObject[]): string[] => pods.map(({ metadata }) => metadata.name!);

test.each<[string, Json, Record<string, string>, string[], string[]]>([
  ['one at a time', { maxUnavailable: 1 }, { a: 'o', b: 'o' }, [], ['a-o']],
  ['none while a new one is not ready', { maxUnavailable: 1 }, { a: 'N', b: 'o' }, [], []],
  ['useless ones at once', { maxUnavailable: 1 }, { a: 'O', b: 'O', c: 'o' }, [], ['a-O', 'b-O']],
  ['half of them', { maxUnavailable: '50%' }, { a: 'o', b: 'o', c: 'o', d: 'n' }, [], ['a-o', 'b-o']],
  ['a node without a Pod counts as unavailable', { maxUnavailable: 1 }, { a: '', b: 'o' }, [], []],
  ['surge starts a new one beside', { maxSurge: 1, maxUnavailable: 0 }, { a: 'o', b: 'o' }, ['a'], []],
  ['surge waits for the new one', { maxSurge: 1, maxUnavailable: 0 }, { a: 'oN', b: 'o' }, [], []],
  ['surge ends the old one then', { maxSurge: 1, maxUnavailable: 0 }, { a: 'on', b: 'o' }, ['b'], ['a-o']],
  ['surge replaces useless ones first', { maxSurge: 1, maxUnavailable: 0 }, { a: 'O', b: 'o' }, ['a', 'b'], []],
])('rollingUpdateStep: %s', (_name, strategy, nodes, create, remove) => {
  const step = rollingUpdateStep(aState(strategy, nodes));
  expect([step.create, deleted(step.delete)]).toEqual([create, remove]);
});

test('planDaemons fills gaps, removes doubles and replaces what failed when it may', () => {
  const state = aState({ maxUnavailable: 1 }, { a: '', b: 'on', c: 'x' });
  const plan = planDaemons(state, () => true);
  expect([plan.create, deleted(plan.delete)]).toEqual([['a'], ['b-o', 'c-x']]);
  expect(deleted(planDaemons(state, () => false).delete)).toEqual(['b-o']);
});

test('FailedPodBackOff doubles, and starts anew after a long good time', () => {
  const backOff = new FailedPodBackOff();
  expect([backOff.tryAt('k', 0), backOff.tryAt('k', 400), backOff.tryAt('k', 1000), backOff.tryAt('k', 1500)]).toEqual([0, 600, 0, 1500]);
  expect([backOff.tryAt('k', 4_000_000), backOff.tryAt('k', 4_000_500)]).toEqual([0, 500]);
});
