import { attemptOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Attributes, SpanSink } from '../../../lib/tracing/span.ts';
import { newSpanId } from '../../../lib/tracing/trace-context.ts';
import { executeSpanId, identityOf, traceOf } from './run-trace.ts';

/** What runtimed does for a Run, in this order. `retry`: an attempt has failed, and there is another. */
export type RunStep = 'claimed' | 'prepare source' | 'execute' | 'outputs' | 'artifacts' | 'retry' | 'terminal';

/** Does something for a Run and tells how long that took, and what became of it. */
export type TraceStep = <T>(run: Run, step: RunStep, work: () => Promise<T>, say?: (result: T) => StepResult) => Promise<T>;

export interface StepResult {
  attributes?: Attributes;
  error?: string;
}

/** @param sink undefined: nothing is told, and it costs nothing */
export function stepTracer(sink: SpanSink | undefined, clock: Clock): TraceStep {
  if (sink === undefined) return (_run, _step, work) => work();
  return async (run, step, work, say) => {
    const trace = traceOf(run);
    if (trace === undefined) return work();
    const [start, began] = [clock.now(), clock.monotonic()];
    const end = (result: StepResult) =>
      sink.record({
        traceId: trace.traceId,
        spanId: step === 'execute' ? executeSpanId(run) : newSpanId(),
        parentSpanId: trace.spanId,
        name: step,
        start,
        end: start + clock.monotonic() - began,
        attributes: { ...identityOf(run), 'tenantry.run.attempt': attemptOf(run), ...result.attributes },
        error: result.error,
      });
    try {
      const result = await work();
      end(say?.(result) ?? {});
      return result;
    } catch (error) {
      end({ error: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  };
}
