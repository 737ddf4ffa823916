import { createHash } from 'node:crypto';
import { TRACEPARENT_ANNOTATION } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunCondition } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import { attemptOf, phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { findCondition } from '../../../kube/conditions.ts';
import type { Attributes } from '../../../lib/tracing/span.ts';
import { formatTraceparent, parseTraceparent } from '../../../lib/tracing/trace-context.ts';

/** Where the spans of a Run belong. Derived from the Run alone, so that all who work on it agree without a word. */
export interface RunTrace {
  traceId: string;
  /** Of the span that is the Run itself. */
  spanId: string;
  /** Of whoever created it, if he said so. */
  parentSpanId?: string;
}

/** @returns undefined when the creator has decided that his trace is not recorded */
export function traceOf({ metadata }: Run): RunTrace | undefined {
  const id = metadata.uid!.replaceAll('-', '').toLowerCase();
  const spanId = id.slice(16);
  const parent = parseTraceparent(metadata.annotations?.[TRACEPARENT_ANNOTATION]);
  if (parent === undefined) return { traceId: id, spanId };
  return parent.sampled ? { traceId: parent.traceId, spanId, parentSpanId: parent.spanId } : undefined;
}

/** Known before the span has ended, and by a runtimed that was restarted: spans of the program itself are below it. */
export function executeSpanId(run: Run): string {
  return createHash('sha256')
    .update(`${run.metadata.uid}/execute/${attemptOf(run)}`)
    .digest('hex')
    .slice(0, 16);
}

/** What a Run's program finds in its environment. Where we record nothing it is what the creator of the Run said. */
export function traceparentOf(run: Run, isRecorded: boolean): string | undefined {
  const trace = isRecorded ? traceOf(run) : undefined;
  if (trace !== undefined) return formatTraceparent({ traceId: trace.traceId, spanId: executeSpanId(run), sampled: true });
  const said = run.metadata.annotations?.[TRACEPARENT_ANNOTATION];
  return parseTraceparent(said) === undefined ? undefined : said;
}

/** By which the spans of a Run are found. */
export function identityOf({ metadata, spec }: Run): Attributes {
  return {
    'k8s.namespace.name': metadata.namespace,
    'tenantry.run.name': metadata.name,
    'tenantry.run.uid': metadata.uid,
    'tenantry.run.runtime': spec.runtime,
  };
}

/** What became of a Run that has ended. */
export function outcomeOf(run: Run): { attributes: Attributes; error?: string } {
  const { status } = run;
  const phase = phaseOf(run);
  const completed = findCondition(status?.conditions, RunCondition.Completed);
  const attributes = {
    'k8s.pod.name': status?.assignedPod,
    'tenantry.run.phase': phase,
    'tenantry.run.reason': completed?.reason,
    'tenantry.run.attempts': attemptOf(run),
    'tenantry.run.start': status?.start,
    'process.exit.code': status?.exitCode,
  };
  return phase === 'Succeeded' ? { attributes } : { attributes, error: `${completed?.reason ?? phase}: ${status?.message ?? ''}` };
}
