import { describe, expect, it } from 'vitest';
import type { Run, RunSpec, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { NEXT_PHASES, phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { afterFailedAttempt, afterLostAttempt, assigned, claimed, failed, succeeded, waitingForPod } from './transitions.ts';

const now = new Date('2026-01-01T00:00:00Z');
const later = new Date('2026-01-01T00:00:09Z');

function aRun(spec: Partial<RunSpec> = {}, status?: RunStatus): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r' },
    spec: { runtime: 'bash', mode: { task: {} }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

describe('transitions', () => {
  it('a Run that goes well says each step once', () => {
    let run = aRun();
    run = { ...run, status: waitingForPod(run, 'waiting') };
    run = { ...run, status: assigned(run, { name: 'pod-1', uid: 'u1' }, now) };
    expect(run.status).toMatchObject({ phase: 'Scheduled', assignedPod: 'pod-1', assignedPodUID: 'u1' });
    expect(run.status?.message).toBeUndefined();
    run = { ...run, status: claimed(run, now) };
    expect(run.status).toMatchObject({ phase: 'Running', startTime: '2026-01-01T00:00:00Z' });
    run = { ...run, status: succeeded(run, { outputs: { a: 'b' }, exitCode: 0 }, later) };
    expect(run.status).toMatchObject({
      phase: 'Succeeded',
      attempt: 1,
      message: 'execution completed',
      completionTime: '2026-01-01T00:00:09Z',
      outputs: { a: 'b' },
      exitCode: 0,
    });
    expect(run.status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
      ['Scheduled', 'True', 'Assigned', 'assigned to runtime pod pod-1'],
      ['Running', 'False', 'Completed', ''],
      ['Completed', 'True', 'RunCompleted', 'Completed successfully'],
    ]);
  });

  it.each([
    ['Timeout', 'Timeout'],
    ['Cancelled', 'Cancelled'],
    ['RuntimeError', 'Failed'],
    ['PodGone', 'Failed'],
  ] as const)('a failure for %s ends as %s', (reason, phase) => {
    const status = failed(aRun({}, { phase: 'Running' }), { reason, message: 'x' }, now);
    expect(status).toMatchObject({ phase, message: 'x', completionTime: '2026-01-01T00:00:00Z' });
    expect(NEXT_PHASES.Running).toContain(phase);
  });

  it('a lost place is given up, a kept one is not, when there is another attempt', () => {
    const run = aRun(
      { retryPolicy: { maxAttempts: 2, backoff: '3s' } },
      { phase: 'Running', assignedPod: 'p', assignedPodUID: 'u', startTime: '2026-01-01T00:00:00Z' },
    );
    const lost = afterLostAttempt(run, { reason: 'PodGone', message: 'assigned pod was deleted' }, now);
    expect(lost.status).toMatchObject({ phase: 'Pending', attempt: 2, message: 'assigned pod was deleted' });
    expect(lost.status).not.toHaveProperty('assignedPod');
    expect(lost.status).not.toHaveProperty('startTime');
    expect(lost.retryAt).toEqual(new Date('2026-01-01T00:00:03Z'));
    const kept = afterFailedAttempt(run, { reason: 'RuntimeError', message: 'exit status 1' }, now);
    expect(kept.status).toMatchObject({ phase: 'Running', attempt: 2, assignedPod: 'p' });
    expect(claimed({ ...run, status: kept.status }, later).conditions).toContainEqual(
      expect.objectContaining({ type: 'Running', status: 'True', reason: 'Retrying', message: 'Retry after failure' }),
    );
  });

  it('the Run that was given stays as it was', () => {
    const run = aRun({}, { phase: 'Running', conditions: [] });
    const before = structuredClone(run);
    failed(run, { reason: 'RuntimeError', message: 'x' }, now);
    expect(run).toEqual(before);
    expect(phaseOf(aRun())).toBe('Pending');
  });

  it('a long message is cut', () => {
    expect(failed(aRun(), { reason: 'RuntimeError', message: 'x'.repeat(5000) }, now).message).toHaveLength(1024);
  });
});
