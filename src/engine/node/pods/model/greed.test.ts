import { expect, test } from 'vitest';
import type { PodSpec } from '../../../../kube/generated/core-v1.ts';
import { aContainer, aPod, aSidecar } from '../testing/a-pod.ts';
import { allowance, isGreedy } from './greed.ts';

const asking = (cpu: string, limit?: string) => ({ resources: { requests: { cpu }, ...(limit ? { limits: { cpu: limit } } : {}) } });

test.each<[string, Partial<PodSpec>, number]>([
  ['a little, when it asked for nothing', {}, 0.05],
  ['a little, when it asked for less', { containers: [aContainer('c', asking('10m'))] }, 0.05],
  ['what its containers asked for together', { containers: [aContainer('a', asking('250m', '2')), aContainer('b', asking('100m'))] }, 0.35],
  [
    'what its sidecars and its overhead need too',
    { containers: [aContainer('c', asking('500m'))], initContainers: [aSidecar('s', asking('250m'))], overhead: { cpu: '250m' } },
    1,
  ],
  [
    'what its largest init container asked for',
    { containers: [aContainer('c', asking('1'))], initContainers: [aContainer('i', asking('2'))] },
    2,
  ],
  ['what the Pod as a whole asked for', { containers: [aContainer('c')], resources: { requests: { cpu: '3' } } }, 3],
  ['all that its limit lets it, when that is what it asked for', { containers: [aContainer('c', asking('500m', '500m'))] }, Infinity],
  [
    'what it asked for, when only one of its containers is limited to that',
    { containers: [aContainer('a', asking('1', '1')), aContainer('b', asking('1'))] },
    2,
  ],
])('a Pod may use %s', (_what, spec, expected) => {
  expect(allowance(aPod(spec).spec!)).toBe(expected);
});

test.each([
  { what: 'below what it may use', use: 0.9, was: false, greedy: false },
  { what: 'a little above', use: 1.05, was: false, greedy: false },
  { what: 'well above', use: 1.2, was: false, greedy: true },
  { what: 'a little above, and was well above', use: 1.05, was: true, greedy: true },
  { what: 'below, and was above', use: 0.99, was: true, greedy: false },
])('a Pod that is $what is greedy: $greedy', ({ use, was, greedy }) => {
  expect(isGreedy(use, 1, was)).toBe(greedy);
});

test('a Pod that its limit holds is never greedy', () => {
  expect(isGreedy(64, Infinity, false)).toBe(false);
});
