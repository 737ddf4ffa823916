import type { WallTime, Zone } from './zone.ts';

/** The next time after an instant; undefined when there is none within five years. */
export type Schedule = (after: number) => number | undefined;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FIVE_YEARS_MS = 5 * 366 * 24 * HOUR_MS;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const DESCRIPTORS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface Fields {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** Both days are restricted: either is enough. Otherwise both must match. */
  eitherDay: boolean;
}

/** @throws Error when the text is no schedule */
export function parseSchedule(text: string, zone: Zone): Schedule {
  if (text.startsWith('@every ')) return every(parseDuration(text.slice('@every '.length)));
  const fields = parseFields(DESCRIPTORS[text] ?? text);
  return (after) => nextMatch(fields, zone, after);
}

function parseFields(text: string): Fields {
  const parts = text.split(/\s+/).filter(Boolean);
  if (parts.length !== 5) throw new Error(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`);
  const [minute, hour, day, month, weekday] = parts;
  const weekdays = parseField(weekday, 0, 6, DAYS, 0);
  const open = (field: string): boolean => field.split(',').some((part) => /^[*?](?:\/1)?$/.test(part));
  return {
    minutes: parseField(minute, 0, 59),
    hours: parseField(hour, 0, 23),
    days: parseField(day, 1, 31),
    months: parseField(month, 1, 12, MONTHS, 1),
    weekdays,
    eitherDay: !open(day) && !open(weekday),
  };
}

function parseField(text: string, low: number, high: number, names: readonly string[] = [], firstName = 0): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:[*?]|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/(\d+))?$/i.exec(part);
    if (!match) throw new Error(`failed to parse field: ${part}`);
    const [, first, last, step] = match;
    const number = (word: string): number => {
      const named = names.indexOf(word.toLowerCase());
      const value = named >= 0 ? named + firstName : /^\d+$/.test(word) ? Number(word) : NaN;
      if (Number.isNaN(value)) throw new Error(`failed to parse int from ${word}`);
      return value;
    };
    const start = first === undefined ? low : number(first);
    const end = first === undefined ? high : last !== undefined ? number(last) : step !== undefined ? high : start;
    if (start < low) throw new Error(`beginning of range (${start}) below minimum (${low}): ${part}`);
    if (end > high) throw new Error(`end of range (${end}) above maximum (${high}): ${part}`);
    if (start > end) throw new Error(`beginning of range (${start}) beyond end of range (${end}): ${part}`);
    if (step !== undefined && Number(step) === 0) throw new Error(`step of range should be a positive number: ${part}`);
    for (let value = start; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

/** Whole seconds, as in cron. */
function every(ms: number): Schedule {
  const delay = Math.max(1000, Math.floor(ms / 1000) * 1000);
  return (after) => Math.floor(after / 1000) * 1000 + delay;
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS };

function parseDuration(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text))
    throw new Error(`failed to parse duration @every ${text}: time: invalid duration "${text}"`);
  let total = 0;
  for (const [, value, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) total += Number(value) * UNITS[unit];
  return total;
}

/**
 * Walks forward in steps that never jump over a matching minute: what the wall shows decides, so an hour that a change of clocks skips is
 * skipped, and one that it repeats comes twice.
 */
function nextMatch(fields: Fields, zone: Zone, after: number): number | undefined {
  const end = after + FIVE_YEARS_MS;
  let at = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  while (at <= end) {
    const wall = zone(at);
    if (!fields.months.has(wall.month)) at += toNextDay(wall) + Math.max(0, 27 - wall.day - 1) * 24 * HOUR_MS;
    else if (!matchesDay(fields, wall)) at += toNextDay(wall);
    else if (!fields.hours.has(wall.hour)) at += (60 - wall.minute) * MINUTE_MS;
    else if (!fields.minutes.has(wall.minute)) at += toNextMinute(fields, wall);
    else return at;
  }
  return undefined;
}

function matchesDay({ days, weekdays, eitherDay }: Fields, { day, weekday }: WallTime): boolean {
  return eitherDay ? days.has(day) || weekdays.has(weekday) : days.has(day) && weekdays.has(weekday);
}

/** Not quite to midnight at once: the day may be an hour shorter. */
function toNextDay({ hour, minute }: WallTime): number {
  return hour < 22 ? (22 - hour) * HOUR_MS - minute * MINUTE_MS : (60 - minute) * MINUTE_MS;
}

function toNextMinute({ minutes }: Fields, { minute }: WallTime): number {
  for (let next = minute + 1; next < 60; next++) if (minutes.has(next)) return (next - minute) * MINUTE_MS;
  return (60 - minute) * MINUTE_MS;
}
