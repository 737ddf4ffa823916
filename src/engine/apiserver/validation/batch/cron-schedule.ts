import { quote } from '../../../../kube/go-text.ts';

/** Schedules of CronJobs: five fields, or `@daily` and the like. What is wrong with one, in the words of the parser Kubernetes uses. */
interface Bounds {
  min: number;
  max: number;
  names?: string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);
const DURATION = /^[+-]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/;

export function scheduleError(schedule: string): string | undefined {
  let spec = schedule;
  if (spec.startsWith('TZ=') || spec.startsWith('CRON_TZ=')) {
    const space = spec.indexOf(' ');
    if (space < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]';
    const zone = spec.slice(spec.indexOf('=') + 1, space);
    if (!isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    spec = spec.slice(space).trim();
  }
  if (spec.startsWith('@')) return descriptorError(spec);
  const fields = spec.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (let i = 0; i < fields.length; i++) {
    for (const range of fields[i].split(',')) {
      const error = range === '' ? undefined : rangeError(range, FIELDS[i]);
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

export function isTimeZone(zone: string): boolean {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function descriptorError(descriptor: string): string | undefined {
  if (DESCRIPTORS.has(descriptor)) return undefined;
  if (!descriptor.startsWith('@every ')) return `unrecognized descriptor: ${descriptor}`;
  const duration = descriptor.slice('@every '.length);
  if (DURATION.test(duration) || duration === '0') return undefined;
  return `failed to parse duration ${descriptor}: time: invalid duration ${quote(duration)}`;
}

/** A number, or what is wrong with it. */
function parseNumber(text: string, names: string[] | undefined, base: number): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + base;
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`;
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}

function parseEnds(range: string, expression: string, bounds: Bounds): { start: number; end: number; single: boolean } | string {
  const ends = range.split('-');
  const single = ends.length === 1;
  if (ends[0] === '*' || ends[0] === '?') return { start: bounds.min, end: bounds.max, single };
  const start = parseNumber(ends[0], bounds.names, bounds.min);
  if (typeof start === 'string') return start;
  if (single) return { start, end: start, single };
  if (ends.length > 2) return `too many hyphens: ${expression}`;
  const end = parseNumber(ends[1], bounds.names, bounds.min);
  return typeof end === 'string' ? end : { start, end, single };
}

function rangeError(expression: string, bounds: Bounds): string | undefined {
  const parts = expression.split('/');
  const ends = parseEnds(parts[0], expression, bounds);
  if (typeof ends === 'string') return ends;
  if (parts.length > 2) return `too many slashes: ${expression}`;
  const step = parts.length === 1 ? 1 : parseNumber(parts[1], undefined, 0);
  if (typeof step === 'string') return step;
  const end = parts.length === 2 && ends.single ? bounds.max : ends.end;
  const { start } = ends;
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return step === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}
