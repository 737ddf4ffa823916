import { expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import type { ScaleEvent } from './history.ts';
import { limitByBehavior, limitByDefault, scaleDownLimit, scaleUpLimit } from './limits.ts';
import { NOW } from './testing-pods.ts';

const NO_CHANGES = { up: [], down: [], now: NOW };

/** Policies of so many Pods and so many percent, each with its period. */
function rules(pods: number, podsPeriod: number, percent: number, percentPeriod: number, selectPolicy = 'Max'): Json {
  const policies: Json[] = [];
  if (pods > 0) policies.push({ type: 'Pods', value: pods, periodSeconds: podsPeriod });
  if (percent > 0) policies.push({ type: 'Percent', value: percent, periodSeconds: percentPeriod });
  return { selectPolicy, policies };
}

const DEFAULT_UP = rules(4, 60, 100, 60);
const DEFAULT_DOWN = rules(0, 0, 100, 60);

/** Spread evenly over the last seconds. */
function spread(changes: readonly number[] = [], seconds = 120): ScaleEvent[] {
  const segment = seconds / changes.length;
  return changes.map((change, i) => ({ change, at: NOW - Math.trunc(seconds - segment * (i + 1) + segment / 2) * 1000 }));
}

interface Case {
  range: [min: number, max: number];
  current: number;
  desired: number;
  up?: Json;
  down?: Json;
  upEvents?: number[];
  downEvents?: number[];
  expected: [replicas: number, reason: string];
}

/** The cases of upstream's TestScalingWithRules. */
test.each<[string, Case]>([
  ['within range', { current: 5, desired: 7, range: [3, 8], expected: [7, 'DesiredWithinRange'] }],
  ['below the minimum', { current: 3, desired: 1, range: [2, 8], expected: [2, 'TooFewReplicas'] }],
  ['to none, where that is allowed', { current: 1, desired: 0, range: [0, 10], expected: [0, 'DesiredWithinRange'] }],
  ['above the maximum', { current: 20, desired: 1000, range: [1, 10], expected: [10, 'TooManyReplicas'] }],
  ['far above the maximum', { current: 100, desired: 1000, range: [100, 150], expected: [150, 'TooManyReplicas'] }],
  ['one percent is one', { current: 3, desired: 1000, range: [1, 2000], up: rules(0, 0, 1, 60), expected: [4, 'ScaleUpLimit'] }],
  ['20 Pods fewer', { current: 1000, desired: 3, range: [3, 2000], down: rules(20, 60, 0, 0), expected: [980, 'ScaleDownLimit'] }],
  ['up by default', { current: 10, desired: 50, range: [1, 1000], expected: [20, 'ScaleUpLimit'] }],
  ['Pods beat percent', { current: 10, desired: 500, range: [1, 1000], up: rules(100, 60, 100, 60), expected: [110, 'ScaleUpLimit'] }],
  ['percent beat Pods', { current: 10, desired: 500, range: [1, 1000], up: rules(2, 60, 100, 60), expected: [20, 'ScaleUpLimit'] }],
  ['room enough', { current: 10, desired: 50, range: [1, 1000], up: rules(100, 60, 0, 0), expected: [50, 'DesiredWithinRange'] }],
  ['up by Pods', { current: 10, desired: 50, range: [1, 1000], up: rules(30, 60, 0, 0), expected: [40, 'ScaleUpLimit'] }],
  ['up by percent', { current: 10, desired: 50, range: [1, 1000], up: rules(0, 0, 200, 60), expected: [30, 'ScaleUpLimit'] }],
  ['down by Pods', { current: 100, desired: 2, range: [1, 1000], down: rules(20, 60, 1, 60), expected: [80, 'ScaleDownLimit'] }],
  ['down by fewer Pods', { current: 100, desired: 2, range: [1, 1000], down: rules(2, 60, 1, 60), expected: [98, 'ScaleDownLimit'] }],
  ['down to the minimum', { current: 10, desired: 0, range: [1, 1000], down: rules(100, 60, 0, 0), expected: [1, 'TooFewReplicas'] }],
  ['down by 100 %', { current: 10, desired: 2, range: [5, 1000], down: rules(0, 0, 100, 60), expected: [5, 'TooFewReplicas'] }],
  ['down by five', { current: 10, desired: 2, range: [1, 1000], down: rules(5, 60, 0, 0), expected: [5, 'ScaleDownLimit'] }],
  ['down by half', { current: 10, desired: 5, range: [1, 1000], down: rules(0, 0, 50, 60), expected: [5, 'DesiredWithinRange'] }],
  [
    'up after much growth',
    { current: 100, desired: 500, range: [1, 1000], up: rules(5, 120, 0, 0), upEvents: [1, 5, 9], expected: [100, 'ScaleUpLimit'] },
  ],
  [
    'up after growth, Pods',
    { current: 100, desired: 500, range: [1, 1000], up: rules(150, 120, 0, 0), upEvents: [1, 5, 9], expected: [235, 'ScaleUpLimit'] },
  ],
  [
    'up after growth, percent',
    { current: 100, desired: 500, range: [1, 1000], up: rules(0, 0, 200, 120), upEvents: [1, 5, 9], expected: [255, 'ScaleUpLimit'] },
  ],
  [
    'up after both',
    {
      current: 6,
      desired: 24,
      range: [1, 1000],
      up: rules(0, 0, 300, 300),
      upEvents: [4],
      downEvents: [2],
      expected: [16, 'ScaleUpLimit'],
    },
  ],
  [
    'down after much',
    { current: 100, desired: 2, range: [1, 1000], down: rules(5, 120, 0, 0), downEvents: [1, 5, 9], expected: [100, 'ScaleDownLimit'] },
  ],
  [
    'down after some, percent',
    { current: 100, desired: 0, range: [1, 1000], down: rules(0, 0, 50, 120), downEvents: [2, 4, 6], expected: [56, 'ScaleDownLimit'] },
  ],
  [
    'down after both',
    {
      current: 10,
      desired: 1,
      range: [1, 1000],
      down: rules(0, 0, 50, 180),
      upEvents: [2],
      downEvents: [4],
      expected: [6, 'ScaleDownLimit'],
    },
  ],
  [
    'down never grows',
    { current: 100, desired: 0, range: [1, 1000], down: rules(0, 0, 10, 120), downEvents: [10, 10, 10], expected: [100, 'ScaleDownLimit'] },
  ],
  [
    'down by more than all',
    {
      current: 10,
      desired: 5,
      range: [1, 1000],
      down: rules(0, 0, 1000, 120),
      downEvents: [10, 10, 10],
      expected: [5, 'DesiredWithinRange'],
    },
  ],
  [
    'up is switched off',
    { current: 10, desired: 50, range: [1, 1000], up: rules(9, 60, 0, 0, 'Disabled'), expected: [10, 'ScaleUpLimit'] },
  ],
  [
    'down is switched off',
    { current: 10, desired: 5, range: [1, 1000], down: rules(9, 60, 0, 0, 'Disabled'), expected: [10, 'ScaleDownLimit'] },
  ],
])('%s', (_name, { range: [min, max], current, desired, up = DEFAULT_UP, down = DEFAULT_DOWN, upEvents, downEvents, expected }) => {
  const changes = { up: spread(upEvents), down: spread(downEvents), now: NOW };
  const { replicas, reason } = limitByBehavior(desired, { current, min, max }, { scaleUp: up, scaleDown: down }, changes);
  expect([replicas, reason]).toEqual(expected);
});

test('Min takes the policy that changes least', () => {
  expect(scaleUpLimit(1, rules(2, 60, 50, 60, 'Min'), NO_CHANGES)).toBe(2);
  expect(scaleDownLimit(5, rules(2, 60, 50, 60, 'Min'), NO_CHANGES)).toBe(3);
});

/** The cases of upstream's TestConvertDesiredReplicasWithRules. */
test.each<[string, number, number, number, number, number, string]>([
  ['within range', 5, 7, 3, 8, 7, 'DesiredWithinRange'],
  ['below the minimum', 3, 1, 2, 8, 2, 'TooFewReplicas'],
  ['to none, where that is allowed', 1, 0, 0, 10, 0, 'DesiredWithinRange'],
  ['above the maximum', 20, 1000, 1, 10, 10, 'TooManyReplicas'],
  ['to the double', 3, 1000, 1, 2000, 6, 'ScaleUpLimit'],
  ['to four at once', 1, 1000, 1, 2000, 4, 'ScaleUpLimit'],
])('without a behavior: %s', (_name, current, desired, min, max, replicas, reason) => {
  expect(limitByDefault(desired, { current, min, max })).toMatchObject({ replicas, reason });
});
