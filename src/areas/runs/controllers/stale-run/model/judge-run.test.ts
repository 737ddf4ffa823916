import { describe, expect, it } from 'vitest';
import type { Run, RunPhase, RunStatus } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import { DEFAULT_THRESHOLDS, judgeRun, nextLook, type AssignedPod } from './judge-run.ts';

function aRun(phase: RunPhase | undefined, status: Partial<RunStatus> = {}): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r' },
    spec: { runtime: 'bash', mode: { task: {} } },
    ...(phase === undefined ? {} : { status: { phase, assignedPod: 'p', assignedPodUID: 'u', ...status } }),
  };
}

const WELL: AssignedPod = { uid: 'u', isGoing: false, hasEnded: false, silentForMs: 4000 };

const CASES: [
  name: string,
  phase: RunPhase | undefined,
  pod: Partial<AssignedPod> | undefined,
  expected: string,
  scheduledForMs?: number,
][] = [
  ['Running, the Pod is well', 'Running', {}, 'well'],
  ['Running, the Pod is gone', 'Running', undefined, 'lost PodGone: assigned pod was deleted'],
  ['Ready, the Pod is gone', 'Ready', undefined, 'lost PodGone: assigned pod was deleted'],
  ['Running, another Pod has the name', 'Running', { uid: 'other' }, 'lost PodGone: assigned pod was replaced'],
  ['Running, the Pod drains', 'Running', { isGoing: true }, 'well'],
  ['Running, the Pod drains and is not ready for long', 'Running', { isGoing: true, notReadyForMs: 90_000 }, 'well'],
  ['Running, the Pod has just passed its grace', 'Running', { isGoing: true, overdueMs: 30_000 }, 'well'],
  [
    'Running, the Pod is long past its grace',
    'Running',
    { isGoing: true, overdueMs: 30_001 },
    'lost PodTerminating: assigned pod is terminating',
  ],
  [
    'Running, runtimed of a draining Pod is silent',
    'Running',
    { isGoing: true, silentForMs: 30_001 },
    'lost PodUnhealthy: runtimed heartbeat is stale',
  ],
  ['Running, not ready for a while', 'Running', { notReadyForMs: 30_000 }, 'well'],
  ['Running, not ready for too long', 'Running', { notReadyForMs: 30_001 }, 'lost PodUnhealthy: assigned pod is not ready'],
  ['Running, silent for a while', 'Running', { silentForMs: 30_000 }, 'well'],
  ['Running, silent for too long', 'Running', { silentForMs: 30_001 }, 'lost PodUnhealthy: runtimed heartbeat is stale'],
  ['Running, the Pod was evicted', 'Running', { hasEnded: true }, 'lost PodUnhealthy: assigned pod is not ready'],
  ['Scheduled, the Pod is gone', 'Scheduled', undefined, 'unclaimed PodGone: assigned pod was deleted'],
  ['Scheduled, another Pod has the name', 'Scheduled', { uid: 'other' }, 'unclaimed PodGone: assigned pod was replaced'],
  ['Scheduled, the Pod drains', 'Scheduled', { isGoing: true }, 'unclaimed PodTerminating: assigned pod is terminating'],
  ['Scheduled, silent for too long', 'Scheduled', { silentForMs: 30_001 }, 'unclaimed PodUnhealthy: runtimed heartbeat is stale'],
  ['Scheduled for a while on a Pod that is well', 'Scheduled', {}, 'well', 60_000],
  ['Scheduled for too long on a Pod that is well', 'Scheduled', {}, 'unclaimed Unclaimed: assigned pod did not claim the run', 60_001],
  ['without a status', undefined, undefined, 'well'],
  ['Pending', 'Pending', undefined, 'well'],
  ['Succeeded, the Pod is gone', 'Succeeded', undefined, 'well'],
  ['Failed, the Pod is gone', 'Failed', undefined, 'well'],
];

describe('judgeRun', () => {
  it.each(CASES)('a Run that is %s', (_name, phase, pod, expected, scheduledForMs = 0) => {
    const judged = judgeRun(aRun(phase), pod && { ...WELL, ...pod }, scheduledForMs, DEFAULT_THRESHOLDS);
    expect(judged.verdict === 'well' ? 'well' : `${judged.verdict} ${judged.reason}: ${judged.message}`).toBe(expected);
  });

  it('a Run that is Running on no Pod at all is lost', () => {
    const run = aRun('Running', { assignedPod: undefined, assignedPodUID: undefined });
    expect(judgeRun(run, WELL, 0, DEFAULT_THRESHOLDS)).toMatchObject({ verdict: 'lost', reason: 'PodGone' });
  });

  it('a Run of a scheduler that wrote no uid is judged by the name', () => {
    expect(judgeRun(aRun('Running', { assignedPodUID: undefined }), WELL, 0, DEFAULT_THRESHOLDS)).toEqual({ verdict: 'well' });
  });
});

describe('nextLook', () => {
  it.each<[string, Partial<AssignedPod>, number]>([
    ['just before a silent Pod is stale', { silentForMs: 12_000 }, 18_001],
    ['just before a Pod that is not ready is stale', { silentForMs: 0, notReadyForMs: 29_000 }, 1001],
    ['when the grace of a going Pod is long over', { silentForMs: undefined, isGoing: true, overdueMs: -60_000 }, 30_001],
    ['once in a while when all is known already', { silentForMs: 40_000 }, 30_001],
  ])('%s', (_name, pod, expected) => {
    expect(nextLook({ ...WELL, ...pod }, DEFAULT_THRESHOLDS)).toBe(expected);
  });
});
