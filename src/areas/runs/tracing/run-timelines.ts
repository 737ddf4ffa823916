import { attemptOf, isTerminal, phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run, RunPhase } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { parseTime } from '../../../kube/time.ts';
import type { SpanEvent, SpanSink } from '../../../lib/tracing/span.ts';
import { newSpanId } from '../../../lib/tracing/trace-context.ts';
import { identityOf, outcomeOf, traceOf, type RunTrace } from './run-trace.ts';

/** What a Run waits for in these phases. What happens in the others is for runtimed to tell. */
const WAITS: Partial<Record<RunPhase, string>> = { Pending: 'queued', Scheduled: 'scheduled' };
/** The API tells when a Run was created in whole seconds; a Run that we see come was created just now. */
const JUST_NOW_MS = 2000;

interface Timeline {
  trace: RunTrace;
  namespace: string;
  name: string;
  start: number;
  phase: RunPhase;
  /** When the Run came to that phase. */
  since: number;
  events: SpanEvent[];
}

/** Turns what is seen of Runs into spans: one that is the Run itself, from creation to end, and one for each time that it waits. */
export class RunTimelines {
  readonly #sink: SpanSink;
  readonly #tenantOf: (namespace: string) => string | undefined;
  readonly #timelines = new Map<string, Timeline>();

  constructor(sink: SpanSink, tenantOf: (namespace: string) => string | undefined) {
    this.#sink = sink;
    this.#tenantOf = tenantOf;
  }

  /** Runs that have not ended, of those that were seen. */
  *unfinished(): Iterable<{ uid: string; namespace: string; name: string }> {
    for (const [uid, { namespace, name }] of this.#timelines) yield { uid, namespace, name };
  }

  /** @param found it was there before we looked: what is known of its times is what it says itself */
  changed(run: Run, now: number, found = false): void {
    const uid = run.metadata.uid!;
    const phase = phaseOf(run);
    const known = this.#timelines.get(uid);
    if (known === undefined) {
      if (!isTerminal(phase)) this.#begin(run, phase, now, found);
      return;
    }
    if (known.phase === phase) return;
    this.#endWait(known, run, now);
    known.phase = phase;
    known.since = now;
    known.events.push({ name: EVENTS[phase], time: now });
    if (!isTerminal(phase)) return;
    this.#timelines.delete(uid);
    this.#record(known, run, now, outcomeOf(run));
  }

  removed(run: Run, now: number): void {
    const uid = run.metadata.uid!;
    const known = this.#timelines.get(uid);
    if (known === undefined) return;
    this.#timelines.delete(uid);
    this.#endWait(known, run, now);
    this.#record(known, run, now, { attributes: outcomeOf(run).attributes, error: 'the Run was deleted' });
  }

  /** Of one that is gone, and nobody knows how. */
  forget(uid: string): void {
    this.#timelines.delete(uid);
  }

  #begin(run: Run, phase: RunPhase, now: number, found: boolean): void {
    const trace = traceOf(run);
    if (trace === undefined) return;
    const created = parseTime(run.metadata.creationTimestamp ?? '') ?? now;
    const start = !found && now - created < JUST_NOW_MS ? now : Math.min(created, now);
    const { namespace = '', name = '' } = run.metadata;
    const events = [{ name: 'created', time: start }];
    this.#timelines.set(run.metadata.uid!, { trace, namespace, name, start, phase, since: phase === 'Pending' ? start : now, events });
  }

  #endWait({ trace, phase, since }: Timeline, run: Run, now: number): void {
    const name = WAITS[phase];
    if (name === undefined) return;
    this.#sink.record({
      traceId: trace.traceId,
      spanId: newSpanId(),
      parentSpanId: trace.spanId,
      name,
      start: since,
      end: now,
      attributes: { ...identityOf(run), 'tenantry.run.attempt': attemptOf(run) },
    });
  }

  #record({ trace, namespace, start, events }: Timeline, run: Run, end: number, outcome: ReturnType<typeof outcomeOf>): void {
    const attributes = { ...identityOf(run), ...outcome.attributes, 'tenantry.tenant': this.#tenantOf(namespace) };
    this.#sink.record({ ...trace, name: 'run', start, end, events, attributes, error: outcome.error });
  }
}

/** What is said of the moment in which a Run comes to a phase. */
const EVENTS: Record<RunPhase, string> = {
  Pending: 'queued again',
  Scheduled: 'scheduled',
  Running: 'claimed',
  Ready: 'ready',
  Succeeded: 'terminal',
  Failed: 'terminal',
  Timeout: 'terminal',
  Cancelled: 'terminal',
};
