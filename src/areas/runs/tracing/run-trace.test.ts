import { describe, expect, it } from 'vitest';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { parseTraceparent } from '../../../lib/tracing/trace-context.ts';
import { executeSpanId, traceOf, traceparentOf } from './run-trace.ts';

const UID = '11111111-2222-4333-8444-555555555555';
const CREATOR = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function aRun(annotations?: Record<string, string>, attempt?: number): Run {
  return {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'default', uid: UID, annotations },
    spec: { runtime: 'bash', mode: { task: {} } },
    ...(attempt === undefined ? {} : { status: { phase: 'Running', attempt } }),
  };
}

describe('the trace of a Run', () => {
  it('is its uid', () => {
    expect(traceOf(aRun())).toEqual({ traceId: '11111111222243338444555555555555', spanId: '8444555555555555' });
  });

  it('is that of its creator, where he has one', () => {
    expect(traceOf(aRun({ traceparent: CREATOR }))).toEqual({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '8444555555555555',
      parentSpanId: '00f067aa0ba902b7',
    });
  });

  it('is not recorded where its creator records none', () => {
    expect(traceOf(aRun({ traceparent: CREATOR.replace(/01$/, '00') }))).toBeUndefined();
  });

  it('has a span for each attempt to execute, the same for all who ask', () => {
    expect(executeSpanId(aRun())).toBe(executeSpanId(aRun(undefined, 1)));
    expect(executeSpanId(aRun())).not.toBe(executeSpanId(aRun(undefined, 2)));
  });
});

describe('what a program is told', () => {
  it('is the span of its execution', () => {
    expect(parseTraceparent(traceparentOf(aRun(), true))).toEqual({
      traceId: '11111111222243338444555555555555',
      spanId: executeSpanId(aRun()),
      sampled: true,
    });
  });

  it.each([
    ['nothing, where nothing is recorded', undefined, false, undefined],
    ['its creator, where nothing is recorded', CREATOR, false, CREATOR],
    ['its creator, where he records nothing', CREATOR.replace(/01$/, '00'), true, CREATOR.replace(/01$/, '00')],
    ['nothing, for a nonsense', 'hello', false, undefined],
  ])('is %s', (_name, traceparent, isRecorded, expected) => {
    expect(traceparentOf(aRun(traceparent === undefined ? undefined : { traceparent }), isRecorded)).toBe(expected);
  });
});
