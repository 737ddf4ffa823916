import { expect, test } from 'vitest';
import type { PodSpec } from '../../../../kube/generated/core-v1.ts';
import { aContainer, aPod, aSidecar } from '../testing/a-pod.ts';
import { allowance, isGreedy, usedLately } from './greed.ts';

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
  { what: 'a little below, and was well above', use: 0.8, was: true, greedy: true },
  { what: 'well below, and was well above', use: 0.7, was: true, greedy: false },
])('a Pod that is $what is greedy: $greedy', ({ use, was, greedy }) => {
  expect(isGreedy(use, 1, was)).toBe(greedy);
});

test('a Pod that its limit holds is never greedy', () => {
  expect(isGreedy(64, Infinity, false)).toBe(false);
});

const looksUntil = (from: number, use: number, isSo: (lately: number) => boolean): number => {
  let [lately, looks] = [from, 0];
  while (!isSo(lately) && looks < 100) [lately, looks] = [usedLately(lately, use, 1), looks + 1];
  return looks;
};

test.each([
  { what: 'a burst', from: 0, use: 64, is: true, looks: 3 },
  { what: 'a little too much', from: 0.5, use: 1.3, is: true, looks: 5 },
  { what: 'quiet after a little', from: 1.2, use: 0, is: false, looks: 2 },
  { what: 'quiet after very much', from: 2, use: 0, is: false, looks: 4 },
])('a Pod is greedy: $is after $looks looks of $what', ({ from, use, is, looks }) => {
  expect(looksUntil(from, use, (lately) => isGreedy(lately, 1, !is) === is)).toBe(looks);
});

test('what its limit holds is counted as it is', () => {
  expect(usedLately(0, 8, Infinity)).toBe(2);
});
