import { randomBytes } from 'node:crypto';

/** Who we are part of, as the `traceparent` of W3C Trace Context says it. */
export interface TraceContext {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

/** Version 00, and later ones read as far as they are the same. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** @returns undefined for what is none: whoever sent it is treated as if he had sent nothing */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

export function newSpanId(): string {
  const id = randomBytes(8).toString('hex');
  return isZero(id) ? newSpanId() : id;
}

function isZero(id: string): boolean {
  return /^0+$/.test(id);
}
