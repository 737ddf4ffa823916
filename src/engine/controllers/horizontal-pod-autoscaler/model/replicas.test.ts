import { describe, expect, test } from 'vitest';
import { averageReplicas, sharedReplicas, sumOf, totalReplicas, utilizationReplicas, type PodsInput } from './replicas.ts';
import { metricsOf, NOW, podsIn } from './testing-pods.ts';
import type { PodMetrics, Tolerances } from './usage.ts';

const TENTH: Tolerances = { down: 0.1, up: 0.1 };
const EAGER_UP: Tolerances = { down: 0.1, up: 0.01 };
const ones = (count: number): string[] => Array.from({ length: count }, () => '1.0');
const MAX_INT64 = 2 ** 63;

function input(current: number, states: string, metrics: PodMetrics, requests: string[], resource: string, tolerances = TENTH): PodsInput {
  return { currentReplicas: current, pods: podsIn(states, requests), metrics, resource, tolerances, now: NOW };
}

interface UtilizationCase {
  current: number;
  pods: string;
  requests?: string[];
  /** Of each of the two containers. */
  levels: number[];
  target: number;
  expected: [replicas: number, percent: number, perContainer: number];
}

/** Every case of upstream's replica_calculator_test.go for a target in percent. */
describe('utilizationReplicas', () => {
  test.each<[string, UtilizationCase]>([
    ['grows', { current: 3, pods: 'rrr', levels: [300, 500, 700], target: 30, expected: [5, 50, 500] }],
    ['grows less past an unready Pod', { current: 3, pods: 'urr', levels: [300, 500, 700], target: 30, expected: [4, 60, 600] }],
    [
      'grows less past a Pod that has just started',
      { current: 3, pods: 'hrr', levels: [300, 500, 700], target: 30, expected: [4, 60, 600] },
    ],
    [
      'stays when unready Pods would turn it around',
      { current: 3, pods: 'ruu', levels: [400, 500, 700], target: 30, expected: [3, 40, 400] },
    ],
    ['stays when hot Pods would turn it around', { current: 3, pods: 'rhh', levels: [400, 500, 700], target: 30, expected: [3, 40, 400] }],
    ['grows, ignoring failed Pods', { current: 2, pods: 'rrff', levels: [500, 700], target: 30, expected: [4, 60, 600] }],
    ['grows, ignoring Pods on their way out', { current: 2, pods: 'rrdd', levels: [500, 700], target: 30, expected: [4, 60, 600] }],
    ['shrinks', { current: 5, pods: 'rrrrr', levels: [100, 300, 500, 250, 250], target: 50, expected: [3, 28, 280] }],
    ['shrinks without unready Pods', { current: 5, pods: 'rrruu', levels: [100, 300, 500, 250, 250], target: 50, expected: [2, 30, 300] }],
    ['shrinks without pending Pods', { current: 5, pods: 'rpppp', levels: [100], target: 50, expected: [1, 10, 100] }],
    ['shrinks without hot Pods', { current: 5, pods: 'rrrhh', levels: [100, 300, 500, 250, 250], target: 50, expected: [2, 30, 300] }],
    [
      'shrinks, ignoring failed Pods',
      { current: 5, pods: 'rrrrrff', levels: [100, 300, 500, 250, 250], target: 50, expected: [3, 28, 280] },
    ],
    [
      'shrinks, ignoring deleted Pods',
      { current: 5, pods: 'rrrrrdd', levels: [100, 300, 500, 250, 250], target: 50, expected: [3, 28, 280] },
    ],
    [
      'stays within the tolerance',
      { current: 3, pods: 'rrr', requests: ['0.9', '1.0', '1.1'], levels: [1010, 1030, 1020], target: 100, expected: [3, 102, 1020] },
    ],
    [
      'ignores metrics of Pods it does not know',
      { current: 4, pods: 'rrrr', levels: [4000, 9500, 3000, 7000, 3200, 2000], target: 100, expected: [24, 587, 5875] },
    ],
    ['shrinks less past missing metrics', { current: 4, pods: 'rrrr', levels: [400, 95], target: 100, expected: [3, 24, 247.5] }],
    ['stays when one metric is missing, at the target', { current: 2, pods: 'rr', levels: [1000], target: 100, expected: [2, 100, 1000] }],
    ['stays when one metric is missing, above it', { current: 2, pods: 'rr', levels: [1900], target: 100, expected: [2, 190, 1900] }],
    ['stays when one metric is missing, below it', { current: 2, pods: 'rr', levels: [600], target: 100, expected: [2, 60, 600] }],
    ['stays with missing and unready', { current: 3, pods: 'urr', levels: [100, 450], target: 50, expected: [3, 45, 450] }],
    ['stays with missing and hot', { current: 3, pods: 'hrr', levels: [100, 450], target: 50, expected: [3, 45, 450] }],
    ['grows with missing and unready', { current: 3, pods: 'urr', levels: [100, 2000], target: 50, expected: [4, 200, 2000] }],
    ['shrinks with missing and unready', { current: 4, pods: 'urrr', levels: [100, 100, 100], target: 50, expected: [3, 10, 100] }],
    [
      'assumes the target of Pods whose metric is missing when that is over 100 %',
      { current: 4, pods: 'urrr', requests: ['1.0', '1.0', '2.0', '2.0'], levels: [200, 100, 100], target: 300, expected: [2, 6, 100] },
    ],
    ['stays during a rolling update with a surge', { current: 2, pods: 'rrr', levels: [100, 100], target: 50, expected: [2, 10, 100] }],
  ])('%s', (_name, { current, pods, requests = ones(pods.length), levels, target, expected }) => {
    const metrics = metricsOf(levels.map((level) => level * 2));
    const { replicas, percent, usage } = utilizationReplicas(input(current, pods, metrics, requests, 'cpu'), target, '');
    expect([replicas, percent, usage]).toEqual([expected[0], expected[1], expected[2] * 2]);
  });

  test('a named container counts alone', () => {
    const { replicas, percent, usage } = utilizationReplicas(input(3, 'rrr', metricsOf([300, 500, 700]), ones(3), 'cpu'), 30, 'container2');
    expect([replicas, percent, usage]).toEqual([5, 50, 500]);
  });

  test.each<[string, PodsInput, string]>([
    [
      'metrics of others',
      input(1, 'r', new Map([['old', { value: 1, atMs: NOW, windowMs: 0 }]]), ones(1), 'cpu'),
      'no metrics returned matched known pods',
    ],
    ['no requests', input(1, 'r', metricsOf([200]), [], 'cpu'), 'missing request for cpu in container container1 of Pod pod-0'],
    ['no Pods', input(1, '', metricsOf([200]), [], 'cpu'), 'no pods returned by selector while calculating replica count'],
    [
      'unready Pods only',
      input(1, 'u', metricsOf([200]), ones(1), 'cpu'),
      'did not receive metrics for targeted pods (pods might be unready)',
    ],
  ])('%s are an error', (_name, pods, message) => {
    expect(() => utilizationReplicas(pods, 100, '')).toThrow(message);
  });
});

describe('averageReplicas', () => {
  test.each<[string, number, string, number[], number, number, number, Tolerances?]>([
    ['grows', 3, 'rrr', [20_000, 10_000, 30_000], 15_000, 4, 20_000],
    ['does not mind unready Pods: only CPU is distrusted', 3, 'rrh', [50_000, 10_000, 30_000], 15_000, 6, 30_000],
    ['grows with the metrics of unready Pods', 3, 'hrh', [50_000, 15_000, 30_000], 15_000, 7, 31_666],
    ['grows from one', 1, 'r', [8600], 4400, 2, 8600],
    ['shrinks', 5, 'rrrrr', [12_000, 12_000, 12_000, 12_000, 12_000], 20_000, 3, 12_000],
    ['stays within the tolerance', 3, 'rrr', [20_000, 21_000, 21_000], 20_000, 3, 20_666],
    ['grows past a smaller tolerance', 3, 'rrr', [20_000, 21_000, 21_000], 20_000, 4, 20_666, EAGER_UP],
    ['stays during a rolling update with a surge', 2, 'rrr', [10_000, 10_000], 17_000, 2, 10_000],
  ])('%s', (_name, current, pods, levels, target, replicas, usage, tolerances) => {
    expect(averageReplicas(input(current, pods, metricsOf(levels), [], '', tolerances), target)).toEqual({ replicas, usage });
  });
});

describe('totalReplicas', () => {
  test.each<[string, number, string, number, number, number, Tolerances?]>([
    ['grows', 3, 'rrr', 20_000, 15_000, 4],
    ['counts ready Pods only, and so may grow', 3, 'uru', 50_000, 10_000, 5],
    ['counts ready Pods only, and so may shrink', 3, 'uru', 8600, 4400, 2],
    ['shrinks', 5, 'rrrrr', 12_000, 20_000, 3],
    ['stays within the tolerance', 3, 'rrr', 20_666, 20_000, 3],
    ['stays within the tolerance below', 3, 'rrr', 8600, 8888, 3],
    ['grows past a smaller tolerance', 3, 'rrr', 8900, 8800, 4, EAGER_UP],
    ['ends at the largest number', 3, 'rrr', MAX_INT64, 1, 2 ** 31 - 1],
    ['asks nobody at zero', 0, '', 3000, 1000, 3],
  ])('%s', (_name, current, pods, usage, target, replicas, tolerances = TENTH) => {
    expect(totalReplicas(current, usage, target, () => podsIn(pods), tolerances)).toEqual({ replicas, usage });
  });
});

describe('sharedReplicas', () => {
  test.each<[string, number, number, number, number, number, Tolerances?]>([
    ['grows', 3, 20_000, 5000, 4, 6667],
    ['shrinks', 5, 6000, 2000, 3, 1200],
    ['grows for an external metric', 3, 8600, 2150, 4, 2867],
    ['shrinks for an external metric', 5, 8600, 2867, 3, 1720],
    ['stays within the tolerance', 4, 20_166, 5000, 4, 5042],
    ['stays within the tolerance below', 3, 8600, 2900, 3, 2867],
    ['grows past a smaller tolerance', 4, 20_208, 5000, 5, 5052, EAGER_UP],
    ['ends at the largest number', 1, MAX_INT64, 1, 2 ** 31 - 1, MAX_INT64],
    ['stays at the largest target', 1, MAX_INT64, MAX_INT64, 1, MAX_INT64],
    ['says the whole while nobody shares it', 0, 6000, 2000, 3, 6000],
  ])('%s', (_name, current, total, target, replicas, usage, tolerances = TENTH) => {
    expect(sharedReplicas(current, total, target, tolerances)).toEqual({ replicas, usage });
  });

  test('series add up, and end at what 64 bits hold', () => {
    expect(sumOf([1, 2, 3])).toBe(6);
    expect(sumOf([MAX_INT64, MAX_INT64])).toBe(MAX_INT64);
  });
});
