import { Backoff } from '../backoff.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Counter, MetricsRegistry } from '../metrics.ts';
import type { ExporterSettings } from './exporter-settings.ts';
import { otlpRequest } from './otlp-json.ts';
import { jsonPoster, type Answer } from './post-json.ts';
import type { Span, SpanSink } from './span.ts';

export interface ExporterOptions extends ExporterSettings {
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  /** Replaces HTTP. */
  poster?: { post(body: string): Promise<Answer>; close(): void };
}

/** Spans that wait; more are dropped: whoever traces must never hold up, or fill the memory of, what is traced. */
export const QUEUE_SPANS = 8192;
export const BATCH_SPANS = 512;
/** From the first span of a batch to its sending. */
export const DELAY_MS = 1000;
const RETRY = { initialMs: 1000, maxMs: 30_000, jitter: 0.2 };
const TRIES = 5;
/** Whoever stops does not wait longer for a collector that is slow. */
export const CLOSE_MS = 3000;
/** The collector is there and asks for patience, or somebody between us says that it is not there. */
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Drop = 'queue_full' | 'refused' | 'unreachable';

/** Sends spans to a collector in batches, one at a time, behind everything else. */
export class OtlpExporter implements SpanSink {
  readonly #options: ExporterOptions;
  readonly #poster: NonNullable<ExporterOptions['poster']>;
  readonly #sent: Counter;
  readonly #dropped: (why: Drop, count: number) => void;
  #queue: Span[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #closing = false;
  #hurried = false;
  #complained = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#poster = options.poster ?? jsonPoster(options.url, options.headers);
    this.#sent = options.metrics.counter('tenantry_trace_spans_exported_total', 'Spans that a collector took.').labels();
    const dropped = options.metrics.counter('tenantry_trace_spans_dropped_total', 'Spans that no collector took.', ['reason']);
    this.#dropped = (why, count) => dropped.labels(why).inc(count);
  }

  record(span: Span): void {
    if (this.#closing || this.#queue.length >= QUEUE_SPANS) return this.#dropped('queue_full', 1);
    this.#queue.push(span);
    if (this.#sending !== undefined) return;
    if (this.#queue.length >= BATCH_SPANS) this.#begin();
    else this.#timer ??= this.#options.clock.setTimer(DELAY_MS, () => this.#begin());
  }

  /** Sends what is there, with one try for each batch and not for long, and takes no more. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#wake?.();
    this.#timer?.cancel();
    const patience = this.#options.clock.setTimer(CLOSE_MS, () => {
      this.#hurried = true;
      this.#poster.close();
    });
    await this.#sending;
    if (this.#queue.length > 0) await this.#sendAll();
    patience.cancel();
    this.#poster.close();
  }

  #begin(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0 && !this.#closing) this.#timer ??= this.#options.clock.setTimer(DELAY_MS, () => this.#begin());
    });
  }

  /** Full batches, and one that is not. */
  async #sendAll(): Promise<void> {
    do await this.#send(this.#queue.splice(0, BATCH_SPANS));
    while (this.#queue.length >= BATCH_SPANS || (this.#closing && this.#queue.length > 0));
  }

  async #send(spans: Span[]): Promise<void> {
    const body = JSON.stringify(otlpRequest(this.#options.resource, spans));
    const backoff = new Backoff(RETRY);
    for (let tries = 1; ; tries++) {
      if (this.#hurried) return this.#lose('unreachable', spans.length, 'the collector is slow');
      const outcome = await this.#post(body, spans.length);
      if (outcome !== 'again') return;
      if (tries >= TRIES || this.#closing) return this.#lose('unreachable', spans.length, 'the collector does not answer');
      await this.#pause(backoff.next());
    }
  }

  async #post(body: string, count: number): Promise<'done' | 'again'> {
    let answer: Answer;
    try {
      answer = await this.#poster.post(body);
    } catch {
      return 'again';
    }
    if (TRY_AGAIN.has(answer.status)) return 'again';
    const rejected = answer.status >= 200 && answer.status < 300 ? rejectedOf(answer.text) : count;
    if (rejected > 0) this.#lose('refused', rejected, `status ${answer.status}: ${answer.text.slice(0, 200)}`);
    this.#sent.inc(count - rejected);
    if (rejected === 0) this.#complained = false;
    return 'done';
  }

  /** Said once until it is well again: a collector that is away would fill the log. */
  #lose(why: Drop, count: number, state: string): void {
    this.#dropped(why, count);
    if (this.#complained) return;
    this.#complained = true;
    this.#options.log.warn('traces are lost', { collector: new URL(this.#options.url).host, state });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(ms, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

/** Of a batch that was taken in part. */
function rejectedOf(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: string | number } };
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0;
  }
}
