import type { Attributes, Span } from './span.ts';

const SCOPE = 'tenantry';
/** Work inside of the product, as opposed to requests that it sends or answers. */
const KIND_INTERNAL = 1;
const STATUS_ERROR = 2;

/** The body of an OTLP/HTTP request in its JSON encoding: ids in hexadecimal, 64-bit numbers as text. */
export function otlpRequest(resource: Attributes, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: SCOPE }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf({ traceId, spanId, parentSpanId, name, start, end, attributes = {}, events = [], error }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(start),
    // A clock that was set back in between must not make work that ends before it begins.
    endTimeUnixNano: nanoseconds(Math.max(start, end)),
    attributes: attributesOf(attributes),
    events: events.map(({ name: event, time }) => ({ name: event, timeUnixNano: nanoseconds(time) })),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: valueOf(value) }]));
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Microseconds are as much as a number of milliseconds holds. */
function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`;
}
