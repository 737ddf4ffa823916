import { quote } from './go-text.ts';

/** Times as Kubernetes writes them: RFC 3339 in UTC, to the second (metav1.Time) or the microsecond (metav1.MicroTime). */

let lastSecond = NaN;
let lastText = '';

/** Writes within one second ask for the same text again and again, so the last one is kept. */
export function formatTime(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond) {
    lastText = `${date.toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

export function formatMicroTime(date: Date): string {
  return `${date.toISOString().slice(0, 23)}000Z`;
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Milliseconds since the epoch, or undefined when the text is no RFC 3339 time. */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const time = Date.parse(text.replace(',', '.'));
  if (Number.isNaN(time)) return undefined;
  // Date.parse turns February 30 into March; Go refuses it.
  const day = Number(text.slice(8, 10));
  const offset = /[+-]\d\d:\d\d$/.exec(text)?.[0];
  const shift = offset ? (offset[0] === '-' ? -1 : 1) * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))) * 60_000 : 0;
  return new Date(time + shift).getUTCDate() === day ? time : undefined;
}

/** What the API stores for a time that a client wrote; undefined when it is no time. */
export function canonicalTime(text: string): string | undefined {
  if (CANONICAL.test(text) && parseTime(text) !== undefined) return text;
  const time = parseTime(text);
  return time === undefined ? undefined : formatTime(new Date(time));
}

/** Microseconds must be written in full, as in Lease and Event times. */
export function canonicalMicroTime(text: string): string | undefined {
  const fraction = /\.(\d{6})(?:Z|[+-]\d\d:\d\d)$/.exec(text)?.[1];
  const time = fraction === undefined ? undefined : parseTime(text);
  return time === undefined ? undefined : `${new Date(time).toISOString().slice(0, 19)}.${fraction}Z`;
}

const LAYOUT: [RegExp, string][] = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [/^\d\d/, '01'],
  [/^-/, '-'],
  [/^\d\d/, '02'],
  [/^T/, 'T'],
  [/^\d\d/, '15'],
  [/^:/, ':'],
  [/^\d\d/, '04'],
  [/^:/, ':'],
  [/^\d\d(?:[.,]\d+)?/, '05'],
  [/^(?:Z|[+-]\d\d:\d\d)/, 'Z07:00'],
];
const RANGES: [number, number, number, number, string][] = [
  [5, 7, 1, 12, 'month'],
  [8, 10, 1, 31, 'day'],
  [11, 13, 0, 23, 'hour'],
  [14, 16, 0, 59, 'minute'],
  [17, 19, 0, 59, 'second'],
];

/** What Go says about text that is no RFC 3339 time. */
export function timeError(text: string): string {
  const prefix = `parsing time ${quote(text)}`;
  let rest = text;
  for (const [pattern, element] of LAYOUT) {
    const found = pattern.exec(rest);
    if (!found) return `${prefix} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(rest)} as ${quote(element)}`;
    rest = rest.slice(found[0].length);
  }
  if (rest !== '') return `${prefix}: extra text: ${quote(rest)}`;
  for (const [start, end, low, high, name] of RANGES) {
    const value = Number(text.slice(start, end));
    if (value < low || value > high) return `${prefix}: ${name} out of range`;
  }
  return `${prefix}: day out of range`;
}
