import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import { expiryOf, finishedRun } from './finished-run.ts';

const ENDED = '2026-01-01T00:00:00Z';
const SUCCEEDED: RunStatus = { phase: 'Succeeded', completionTime: ENDED };

function aRun(ttlSecondsAfterFinished: number | undefined, status?: RunStatus, metadata: Run['metadata'] = {}): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'ns', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { runtime: 'bash', mode: { task: {} }, ttlSecondsAfterFinished, source: { inline: 'x'.repeat(1000) } },
    ...(status === undefined ? {} : { status }),
  };
}

const condition = { type: 'Completed', status: 'False', reason: 'X', message: '', lastTransitionTime: '2026-01-01T00:00:05Z' } as const;

describe('expiryOf', () => {
  it.each<[string, Run, number | undefined]>([
    ['an end and a time to live', aRun(60, SUCCEEDED), Date.parse(ENDED) + 60_000],
    ['no time to live', aRun(undefined, SUCCEEDED), undefined],
    ['a time to live of zero, which means for ever', aRun(0, SUCCEEDED), undefined],
    ['no end yet', aRun(60, { phase: 'Running' }), undefined],
    ['no status', aRun(60), undefined],
    ['its deletion under way', aRun(60, SUCCEEDED, { deletionTimestamp: ENDED }), undefined],
    ['the longest time to live', aRun(2 ** 31 - 1, SUCCEEDED), Date.parse(ENDED) + (2 ** 31 - 1) * 1000],
    ['an end of which only a condition tells', aRun(60, { phase: 'Failed', conditions: [condition] }), Date.parse(ENDED) + 65_000],
    [
      'an end of which only the last write tells',
      aRun(60, { phase: 'Failed' }, { creationTimestamp: ENDED, managedFields: [{ time: '2026-01-01T01:00:00Z' }] as never }),
      Date.parse(ENDED) + 3660_000,
    ],
  ])('of a Run with %s', (_name, run, expected) => {
    expect(expiryOf(finishedRun(run))).toBe(expected);
  });
});

describe('finishedRun', () => {
  it('keeps little of a large Run', () => {
    const large = aRun(60, { ...SUCCEEDED, outputs: { a: 'x'.repeat(8000) }, log: { text: 'y'.repeat(8000) } });
    expect(JSON.stringify(finishedRun(large)).length).toBeLessThan(300);
  });

  it('shares what many Runs have in common', () => {
    const [one, other] = [finishedRun(aRun(60, SUCCEEDED)), finishedRun(aRun(60, SUCCEEDED))];
    expect(one.spec).toBe(other.spec);
    expect(finishedRun(aRun(61, SUCCEEDED)).spec.ttlSecondsAfterFinished).toBe(61);
  });
});
