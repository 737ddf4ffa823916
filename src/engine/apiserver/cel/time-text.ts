/** Durations and timestamps as Go and protobuf write them. */
const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
const MAX = 2n ** 63n - 1n;
const LONGEST = 512;

/** time.ParseDuration, in nanoseconds; undefined when it is none. */
export function parseGoDuration(text: string): bigint | undefined {
  if (text === '' || text.length > LONGEST) return undefined;
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0n;
  let total = 0n;
  let at = 0;
  while (at < body.length) {
    DURATION_PART.lastIndex = at;
    const match = DURATION_PART.exec(body);
    if (match === null || (match[1] === '' && !match[2])) return undefined;
    const unit = UNITS[match[3]];
    const fraction = (match[2] ?? '').slice(0, 18);
    total += BigInt(match[1] || '0') * unit + (fraction === '' ? 0n : (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length));
    at = DURATION_PART.lastIndex;
  }
  if (at === 0 || total > MAX + (negative ? 1n : 0n)) return undefined;
  return negative ? -total : total;
}

/** Seconds with as many decimals as needed: `5400s`, `0.123s`. */
export function durationText(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds) / 1e9;
  const text = String(seconds);
  if (!text.includes('e')) return `${text}s`;
  const whole = nanoseconds / 1_000_000_000n;
  const rest = (nanoseconds < 0n ? -nanoseconds : nanoseconds) % 1_000_000_000n;
  const sign = nanoseconds < 0n && whole === 0n ? '-' : '';
  return `${sign}${whole}${rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`}s`;
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** time.Parse with RFC 3339, in nanoseconds since 1970; undefined when it is none. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  if (month < 1 || month > 12 || day < 1 || day > days[month - 1] || hour > 23 || minute > 59 || second > 59) return undefined;
  const base = new Date(0);
  base.setUTCFullYear(year, month - 1, day);
  base.setUTCHours(hour, minute, second);
  const zone = match[8];
  const offset = zone === 'Z' ? 0 : (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6)));
  const nanoseconds = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return (BigInt(base.getTime()) - BigInt(offset) * 60_000n) * 1_000_000n + nanoseconds;
}

/** RFC 3339 with nanoseconds, trailing zeros dropped. */
export function timestampText(nanoseconds: bigint): string {
  const fraction = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const date = new Date(Number((nanoseconds - fraction) / 1_000_000n));
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const rest = date
    .toISOString()
    .replace(/^[+-]?\d+/, '')
    .slice(0, 15);
  const decimals = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${year}${rest}${decimals}Z`;
}

/** The civil time of an instant in a zone: UTC, `+05:30`, or an IANA name. @throws Error when there is no such zone */
export function inZone(nanoseconds: bigint, zone: string): Date {
  const milliseconds = Number((nanoseconds - (((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);
  const offset = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (offset !== null) {
    const minutes = (Number(offset[2]) * 60 + Number(offset[3])) * (offset[1] === '-' ? -1 : 1);
    return new Date(milliseconds + minutes * 60_000);
  }
  if (zone === '' || zone === 'UTC' || zone === 'Z') return new Date(milliseconds);
  const name =
    zoneFormat(zone)
      .formatToParts(milliseconds)
      .find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
  const shift = /GMT([+-])(\d{2}):(\d{2})/.exec(name);
  const minutes = shift === null ? 0 : (Number(shift[2]) * 60 + Number(shift[3])) * (shift[1] === '-' ? -1 : 1);
  return new Date(milliseconds + minutes * 60_000);
}

const MOST_ZONES = 50;
const zones = new Map<string, Intl.DateTimeFormat>();

/** What knows the offsets of a zone; it takes long to make. */
function zoneFormat(zone: string): Intl.DateTimeFormat {
  let format = zones.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    } catch (error) {
      throw new Error(`unknown time zone ${zone}`, { cause: error });
    }
    if (zones.size >= MOST_ZONES) zones.clear();
    zones.set(zone, format);
  }
  return format;
}
