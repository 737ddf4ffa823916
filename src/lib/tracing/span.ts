/** A piece of work that has ended, as OpenTelemetry knows it. Times are milliseconds since the epoch, with parts of them. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  start: number;
  end: number;
  attributes?: Attributes;
  events?: readonly SpanEvent[];
  /** Why it did not go well; absent: it did. */
  error?: string;
}

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanEvent {
  name: string;
  time: number;
}

/** Whom spans are given to. Returns at once and never throws. */
export interface SpanSink {
  record(span: Span): void;
}
