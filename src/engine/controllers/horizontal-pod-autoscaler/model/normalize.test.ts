import { expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { ScalingHistory } from './history.ts';
import { normalize } from './normalize.ts';
import { NOW } from './testing-pods.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Recommendations of so many minutes ago. */
type Past = [replicas: number, minutesAgo: number][];

function historyOf(past: Past): ScalingHistory {
  const [first, ...rest] = past.length === 0 ? ([[0, 600]] as Past) : past;
  const history = new ScalingHistory(first[0], NOW - first[1] * MINUTE);
  // An hour's window forgets nothing of this.
  for (const [replicas, minutesAgo] of rest) history.stabilized(replicas, replicas, HOUR, HOUR, NOW - minutesAgo * MINUTE);
  return history;
}

const WIDE = { min: 1, max: 1000 };

/** The cases of upstream's TestNormalizeDesiredReplicas. */
test.each<[string, Past, number, number, string]>([
  ['nothing recommended before', [], 5, 5, 'ReadyForNewScale'],
  [
    'more was recommended a minute ago',
    [
      [4, 2],
      [5, 1],
    ],
    3,
    5,
    'ScaleDownStabilized',
  ],
  [
    'less was recommended before',
    [
      [1, 2],
      [2, 1],
    ],
    3,
    3,
    'ReadyForNewScale',
  ],
  [
    'what was recommended is too old',
    [
      [10, 10],
      [9, 9],
    ],
    3,
    3,
    'ReadyForNewScale',
  ],
  [
    'some of it is too old',
    [
      [10, 10],
      [9, 9],
      [5, 2],
      [4, 1],
    ],
    3,
    5,
    'ScaleDownStabilized',
  ],
])('without a behavior: %s', (_name, past, desired, replicas, reason) => {
  const result = normalize(desired, { ...WIDE, current: 100 }, undefined, historyOf(past), NOW);
  expect(result).toMatchObject({ replicas, ableToScale: { reason } });
});

interface Case {
  past: Past;
  current: number;
  desired: number;
  upSeconds?: number;
  downSeconds?: number;
  expected: [replicas: number, reason: string];
}

const free = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100_000, periodSeconds: 60 }] };

/** The cases of upstream's TestNormalizeDesiredReplicasWithBehavior. */
test.each<[string, Case]>([
  ['nothing recommended before', { past: [], current: 100, desired: 5, expected: [5, 'ReadyForNewScale'] }],
  [
    'down is held up',
    {
      past: [
        [4, 2],
        [5, 1],
      ],
      current: 100,
      desired: 3,
      downSeconds: 180,
      expected: [5, 'ScaleDownStabilized'],
    },
  ],
  [
    'up is held down',
    {
      past: [
        [4, 2],
        [5, 1],
      ],
      current: 1,
      desired: 7,
      upSeconds: 300,
      expected: [4, 'ScaleUpStabilized'],
    },
  ],
  [
    'down is free',
    {
      past: [
        [1, 2],
        [2, 1],
      ],
      current: 100,
      desired: 3,
      upSeconds: 300,
      expected: [3, 'ReadyForNewScale'],
    },
  ],
  [
    'up is free',
    {
      past: [
        [4, 2],
        [5, 1],
      ],
      current: 1,
      desired: 3,
      downSeconds: 300,
      expected: [3, 'ReadyForNewScale'],
    },
  ],
  [
    'old ones do not hold down',
    {
      past: [
        [10, 10],
        [9, 9],
      ],
      current: 1,
      desired: 100,
      upSeconds: 300,
      expected: [100, 'ReadyForNewScale'],
    },
  ],
  [
    'a spike is not followed down',
    {
      past: [
        [10, 4],
        [2, 1],
      ],
      current: 10,
      desired: 2,
      downSeconds: 300,
      expected: [10, 'ScaleDownStabilized'],
    },
  ],
  [
    'neither up nor down while both windows disagree',
    {
      past: [
        [1, 2],
        [9, 1],
      ],
      current: 5,
      desired: 7,
      upSeconds: 300,
      downSeconds: 300,
      expected: [5, 'ScaleUpStabilized'],
    },
  ],
])('with a behavior: %s', (_name, { past, current, desired, upSeconds = 0, downSeconds = 0, expected }) => {
  const behavior: Json = {
    scaleUp: { ...free, stabilizationWindowSeconds: upSeconds },
    scaleDown: { ...free, stabilizationWindowSeconds: downSeconds },
  };
  const { replicas, ableToScale } = normalize(desired, { ...WIDE, current }, behavior, historyOf(past), NOW);
  expect([replicas, ableToScale.reason]).toEqual(expected);
});

test('down is held up for five minutes where the behavior does not say', () => {
  const behavior = { scaleUp: free, scaleDown: free };
  expect(normalize(2, { ...WIDE, current: 8 }, behavior, historyOf([[8, 4]]), NOW).replicas).toBe(8);
  expect(normalize(2, { ...WIDE, current: 8 }, behavior, historyOf([[8, 6]]), NOW).replicas).toBe(2);
});

test('a size that limits changed says so', () => {
  const limited = normalize(50, { min: 1, max: 8, current: 5 }, undefined, historyOf([]), NOW);
  expect(limited.limited).toEqual({
    status: 'True',
    reason: 'TooManyReplicas',
    message: 'the desired replica count is more than the maximum replica count',
  });
  const free = normalize(6, { min: 1, max: 8, current: 5 }, undefined, historyOf([]), NOW);
  expect(free.limited).toMatchObject({ status: 'False', reason: 'DesiredWithinRange' });
});

test('changes are forgotten when no policy looks back that far', () => {
  const history = new ScalingHistory(1, NOW);
  const behavior = { scaleUp: { policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }] }, scaleDown: { policies: [] } };
  history.scaled(1, 5, behavior, NOW - 2 * MINUTE);
  history.scaled(5, 7, behavior, NOW - 30_000);
  history.scaled(7, 8, behavior, NOW);
  expect(history.up.map(({ change }) => change)).toEqual([2, 1]);
  history.scaled(8, 6, behavior, NOW);
  expect(history.down).toEqual([{ change: 2, at: NOW }]);
});
