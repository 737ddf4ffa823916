import { describe, expect, it } from 'vitest';
import type { Run, RunStatus } from '../api/kruntimes.io/v1alpha1/run.ts';
import { exitCodeOf } from './exit-code.ts';

describe('exitCodeOf', () => {
  it.each<[string, RunStatus, number]>([
    ['success', { phase: 'Succeeded', exitCode: 0 }, 0],
    ['success of a runtimed that does not say', { phase: 'Succeeded' }, 0],
    ['failure, the code of the program', { phase: 'Failed', exitCode: 7 }, 7],
    ['failure before the program ran', { phase: 'Failed' }, 125],
    ['failure although the program succeeded', { phase: 'Failed', exitCode: 0 }, 125],
    ['a program that was killed', { phase: 'Failed', exitCode: -1 }, 125],
    ['a timeout, whatever the program said', { phase: 'Timeout', exitCode: -1 }, 124],
    ['a cancellation', { phase: 'Cancelled' }, 130],
  ])('%s', (_name, status, code) => {
    const run: Run = { apiVersion: 'v', kind: 'Run', metadata: {}, spec: { runtime: 'bash', mode: { task: {} } }, status };
    expect(exitCodeOf(run)).toBe(code);
  });
});
