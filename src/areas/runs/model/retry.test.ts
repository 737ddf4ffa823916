import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunSpec, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { backoffBefore, decideRetry } from './retry.ts';

function aRun(spec: Partial<RunSpec> = {}, status?: RunStatus, metadata: object = {}): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', ...metadata },
    spec: { runtime: 'bash', mode: { task: {} }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

describe('decideRetry', () => {
  const three = { retryPolicy: { maxAttempts: 3, backoff: '2s' } };
  const cases: [string, Run, FailureReason, object][] = [
    ['once by default', aRun(), 'RuntimeError', { retry: false }],
    ['the second attempt waits for the back-off', aRun(three), 'RuntimeError', { retry: true, nextAttempt: 2, backoffMs: 2000 }],
    [
      'the third waits twice as long',
      aRun(three, { phase: 'Running', attempt: 2 }),
      'PodGone',
      { retry: true, nextAttempt: 3, backoffMs: 4000 },
    ],
    ['the last has no next', aRun(three, { phase: 'Running', attempt: 3 }), 'RuntimeError', { retry: false }],
    ['bad outputs stay bad', aRun(three), 'OutputsInvalid', { retry: false }],
    ['cancelled is cancelled', aRun(three), 'Cancelled', { retry: false }],
    ['a cancel that came before the failure was seen', aRun({ ...three, cancelRequested: true }), 'RuntimeError', { retry: false }],
    ['a Run that is going', aRun(three, undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'PodGone', { retry: false }],
    [
      'reasons that are listed',
      aRun({ retryPolicy: { maxAttempts: 2, retryableReasons: ['PodGone'] } }),
      'PodGone',
      { retry: true, nextAttempt: 2, backoffMs: 1000 },
    ],
    [
      'reasons that are not listed',
      aRun({ retryPolicy: { maxAttempts: 2, retryableReasons: ['PodGone'] } }),
      'RuntimeError',
      { retry: false },
    ],
  ];
  it.each(cases)('%s', (_name, run, reason, decision) => expect(decideRetry(run, reason)).toEqual(decision));
});

describe('backoffBefore', () => {
  it('never waits longer than a minute', () => {
    expect(backoffBefore(aRun({ retryPolicy: { backoff: '1s' } }), 50)).toBe(60_000);
  });

  it('takes the default for a text that is no duration', () => {
    expect(backoffBefore(aRun({ retryPolicy: { backoff: 'soon' } }), 2)).toBe(1000);
  });
});
