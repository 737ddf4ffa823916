const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** Kubernetes keeps times to the second in UTC. Undefined when the text is not RFC 3339. */
export function canonicalTime(text: string): string | undefined {
  // The form that Kubernetes itself writes, which is what nearly every request carries.
  if (text.length === 20 && text.charCodeAt(19) === 90 && RFC3339.test(text) && !Number.isNaN(Date.parse(text))) return text;
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const time = Date.parse(text.replace(',', '.'));
  return Number.isNaN(time) ? undefined : `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Times of leases and events: always six digits of fraction. Undefined when the text has another form. */
export function canonicalMicroTime(text: string): string | undefined {
  const match = RFC3339.exec(text);
  if (!match || match[7]?.length !== 6) return undefined;
  if (match[8] === 'Z' && !text.includes(',')) return Number.isNaN(Date.parse(text)) ? undefined : text;
  const seconds = Date.parse(text.replace(/[.,]\d+/, ''));
  return Number.isNaN(seconds) ? undefined : `${new Date(seconds).toISOString().slice(0, 19)}.${match[7]}Z`;
}

const LAYOUT_PARTS: [layout: string, pattern: RegExp][] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d?/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
];

/** Go's words for a text that is not a time. */
export function timeError(text: string, micro: boolean): string {
  const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  const prefix = `parsing time ${JSON.stringify(text)}`;
  let rest = text;
  for (const [part, pattern] of LAYOUT_PARTS) {
    const match = pattern.exec(rest);
    if (!match) return `${prefix} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"`;
    rest = rest.slice(match[0].length);
  }
  const outOfRange = rangeError(text);
  if (outOfRange) return `${prefix}: ${outOfRange} out of range`;
  if (micro && !/^[.,]\d{6}(?!\d)/.test(rest)) return `${prefix} as "${layout}": cannot parse ${JSON.stringify(rest)} as ".000000"`;
  rest = rest.replace(/^[.,]\d+/, '');
  const zone = /^(Z|[+-]\d\d:\d\d)/.exec(rest);
  if (!zone) return `${prefix} as "${layout}": cannot parse ${JSON.stringify(rest)} as "Z07:00"`;
  return `${prefix}: extra text: ${JSON.stringify(rest.slice(zone[0].length))}`;
}

function rangeError(text: string): string | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)/.exec(text)!.map(Number);
  if (month < 1 || month > 12) return 'month';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  if (second > 59) return 'second';
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return 'day';
  return undefined;
}
