import { describe, expect, it } from 'vitest';
import type { Run, RunSpec } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Labels } from '../../../../kube/label-selector.ts';
import { requestsOf } from '../../../../api/kruntimes.io/v1alpha1/capacity.ts';
import { placeRun, type PlacedPod } from './placement.ts';
import { isFresh, mayHelp, runtimePod, type RuntimePod } from './runtime-pod.ts';

const NOW = Date.parse('2026-01-01T00:00:20Z');
const TOPOLOGY = 'kruntimes.io/runtime-pod' as const;

function aRun(spec: Partial<RunSpec> = {}, labels?: Record<string, string>): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', labels },
    spec: { runtime: 'bash', mode: { task: {} }, ...spec },
  };
}

function aPod(name: string, { runs = 4, used = 0, age = 1, on = [] as Labels[], gpu = 0 } = {}): PlacedPod {
  return {
    pod: {
      name,
      uid: `uid-${name}`,
      capacity: new Map([['runs', runs], ...(gpu ? [['gpu', gpu] as const] : [])]),
      available: true,
      heartbeat: NOW - age * 1000,
    },
    used: new Map([['runs', used]]),
    labels: on,
  };
}

function place(run: Run, ...pods: PlacedPod[]) {
  const requests = requestsOf(run);
  if (!('amounts' in requests)) throw new Error('bad requests');
  const placement = placeRun(run, requests.amounts, pods, NOW);
  if ('pod' in placement) return placement.pod.name;
  const { message, full, rejection } = placement;
  return { message, full, by: rejection.reason };
}

const affinity = (matchLabels: Record<string, string>) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels }, topologyKey: TOPOLOGY }],
});

describe('placeRun', () => {
  it.each<[string, Run, PlacedPod[], unknown]>([
    ['the least loaded Pod', aRun(), [aPod('a', { used: 2 }), aPod('b', { used: 1 })], 'b'],
    ['the first by name of equal ones', aRun(), [aPod('b'), aPod('a')], 'a'],
    ['load is relative to capacity', aRun(), [aPod('small', { runs: 2, used: 1 }), aPod('large', { runs: 64, used: 8 })], 'large'],
    ['no Pod at all', aRun(), [], { message: 'waiting for available runtime pods for runtime "bash"', full: true, by: 'no_pod' }],
    [
      'all places taken',
      aRun(),
      [aPod('a', { used: 4 })],
      { message: 'waiting for available runtime pods for runtime "bash"', full: true, by: 'no_capacity' },
    ],
    [
      'a silent Pod gets nothing',
      aRun(),
      [aPod('a', { age: 16 })],
      { message: 'waiting for available runtime pods for runtime "bash"', full: true, by: 'no_pod' },
    ],
    [
      'a resource nobody offers leaves places for others',
      aRun({ resources: { requests: { gpu: 1 } } }),
      [aPod('a')],
      { message: 'waiting for available runtime pods for runtime "bash"', full: false, by: 'no_capacity' },
    ],
    ['a resource that one offers', aRun({ resources: { requests: { gpu: 1 } } }), [aPod('a'), aPod('z', { gpu: 1, used: 3 })], 'z'],
    [
      'near to what it needs',
      aRun({ affinity: { runAffinity: affinity({ app: 'x' }) } }),
      [aPod('a'), aPod('b', { on: [{ app: 'x' }], used: 3 })],
      'b',
    ],
    [
      'nowhere near',
      aRun({ affinity: { runAffinity: affinity({ app: 'x' }) } }),
      [aPod('a')],
      { message: 'waiting for available runtime pods satisfying required Run affinity for runtime "bash"', full: false, by: 'affinity' },
    ],
    ['the first of a cohort begins it', aRun({ affinity: { runAffinity: affinity({ app: 'x' }) } }, { app: 'x' }), [aPod('a')], 'a'],
    [
      'the second of a cohort joins it',
      aRun({ affinity: { runAffinity: affinity({ app: 'x' }) } }, { app: 'x' }),
      [aPod('a'), aPod('b', { on: [{ app: 'x' }] })],
      'b',
    ],
    [
      'a cohort whose Pod is full waits',
      aRun({ affinity: { runAffinity: affinity({ app: 'x' }) } }, { app: 'x' }),
      [aPod('a'), aPod('b', { on: [{ app: 'x' }], used: 4 })],
      { message: 'waiting for available runtime pods satisfying required Run affinity for runtime "bash"', full: false, by: 'affinity' },
    ],
    [
      'apart from what it avoids',
      aRun({ affinity: { runAntiAffinity: affinity({ app: 'x' }) } }),
      [aPod('a', { on: [{ app: 'x' }] }), aPod('b', { used: 3 })],
      'b',
    ],
    [
      'nowhere apart',
      aRun({ affinity: { runAntiAffinity: affinity({ app: 'x' }) } }),
      [aPod('a', { on: [{ app: 'x' }] })],
      {
        message: 'waiting for available runtime pods satisfying required Run anti-affinity for runtime "bash"',
        full: false,
        by: 'anti_affinity',
      },
    ],
    [
      'a preference weighs as much as load',
      aRun({
        affinity: {
          runAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 50, runAffinityTerm: { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: TOPOLOGY } },
            ],
          },
        },
      }),
      [aPod('a', { used: 1 }), aPod('b', { on: [{ app: 'x' }], used: 1 })],
      'b',
    ],
  ])('%s', (_name, run, pods, expected) => expect(place(run, ...pods)).toEqual(expected));
});

describe('mayHelp', () => {
  const pod = (second: number, extra: object = {}, before?: RuntimePod, monotonic = 0) =>
    runtimePod(
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', uid: 'u', annotations: {}, ...extra },
        status: {
          phase: 'Running',
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'kruntimes.io/RuntimedReady', status: 'True', lastProbeTime: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` },
          ],
        },
      },
      before,
      { now: NOW, monotonic },
    );

  it('a heartbeat of a Pod that was fresh wakes nobody', () => expect(mayHelp(pod(10), pod(15, {}, pod(10)), 0)).toBe(false));
  it('a Pod that is heard of again does', () => expect(mayHelp(pod(1), pod(19, {}, pod(1)), 0)).toBe(true));
  it('a new Pod does', () => expect(mayHelp(undefined, pod(19), 0)).toBe(true));
  it('more capacity does', () => expect(mayHelp(pod(19), pod(19, { annotations: { 'kruntimes.io/capacity.runs': '9' } }), 0)).toBe(true));
  it('a Pod that drains does not', () =>
    expect(mayHelp(undefined, pod(19, { annotations: { 'kruntimes.io/draining': 'x' } }), 0)).toBe(false));

  it('a Pod whose clock is behind by an hour is fresh as soon as it is heard of', () => {
    const first = { ...pod(0), heartbeat: -3_600_000 };
    expect(isFresh(first, 0)).toBe(false);
    const second = pod(5, {}, first, 5000);
    expect(isFresh(second, 5000)).toBe(true);
    expect(isFresh(pod(5, {}, second, 21_000), 21_000)).toBe(false);
  });
});
