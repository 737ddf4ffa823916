import { describe, expect, it } from 'vitest';
import type { Run, RunSpec, RunStatus } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Judgement } from './judge-run.ts';
import { reap } from './reap.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const LOST: Judgement = { verdict: 'lost', reason: 'PodGone', message: 'assigned pod was deleted' };
const UNCLAIMED: Judgement = { verdict: 'unclaimed', reason: 'PodGone', message: 'assigned pod was deleted' };

function aRun(spec: Partial<RunSpec>, status: Partial<RunStatus> = {}): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r' },
    spec: { runtime: 'bash', mode: { task: {} }, ...spec },
    status: { phase: 'Running', assignedPod: 'p', assignedPodUID: 'u', startTime: '2025-12-31T23:59:00Z', ...status },
  };
}

describe('reap', () => {
  it('ends a lost Run that may not be tried again, with a time of completion', () => {
    const { status, event } = reap(aRun({}), LOST, NOW);
    expect(status).toMatchObject({
      phase: 'Failed',
      attempt: 1,
      message: 'assigned pod was deleted',
      completionTime: '2026-01-01T00:00:00Z',
    });
    expect(event).toEqual({ type: 'Warning', reason: 'StaleRunFailed', message: 'PodGone: assigned pod was deleted' });
  });

  it('gives a lost Run another place when its policy allows', () => {
    const { status, event } = reap(aRun({ retryPolicy: { maxAttempts: 2 } }), LOST, NOW);
    expect(status).toMatchObject({ phase: 'Pending', attempt: 2 });
    expect(status.assignedPod).toBeUndefined();
    expect(status.assignedPodUID).toBeUndefined();
    expect(status.startTime).toBeUndefined();
    expect(status.conditions).toMatchObject([{ type: 'Running', status: 'False', reason: 'PodGone' }]);
    expect(event.reason).toBe('StaleRunRetrying');
  });

  it.each([
    ['the attempts are used up', { maxAttempts: 2 }, 2],
    ['the reason is not among those to try again for', { maxAttempts: 5, retryableReasons: ['Timeout'] }, 1],
  ])('ends a lost Run when %s', (_name, retryPolicy, attempt) => {
    expect(reap(aRun({ retryPolicy }, { attempt }), LOST, NOW).status.phase).toBe('Failed');
  });

  it('counts no attempt of a Run that never began', () => {
    const { status, event } = reap(aRun({}, { phase: 'Scheduled', startTime: undefined }), UNCLAIMED, NOW);
    expect(status.phase).toBe('Pending');
    expect(status.attempt).toBeUndefined();
    expect(status.assignedPod).toBeUndefined();
    expect(status.conditions).toMatchObject([{ type: 'Scheduled', status: 'False', reason: 'PodGone' }]);
    expect(event.reason).toBe('StaleRunRetrying');
  });

  it.each([LOST, UNCLAIMED] as const)('a Run that was to be cancelled is Cancelled: $verdict', (judged) => {
    const { status, event } = reap(aRun({ cancelRequested: true, retryPolicy: { maxAttempts: 3 } }), judged, NOW);
    expect(status).toMatchObject({ phase: 'Cancelled', message: 'cancelled by user' });
    expect(event.reason).toBe('StaleRunFailed');
  });
});
