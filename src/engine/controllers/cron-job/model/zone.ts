/** The clock on the wall somewhere, at an instant. */
export interface WallTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  /** 0 is Sunday. */
  weekday: number;
  hour: number;
  minute: number;
  second: number;
}

export type Zone = (instant: number) => WallTime;

const formatters = new Map<string, Intl.DateTimeFormat>();

export const utc: Zone = (instant) => {
  const date = new Date(instant);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
};

/** @throws RangeError when there is no such zone */
export function zoneOf(name: string): Zone {
  if (name === 'UTC' || name === 'Etc/UTC') return utc;
  const formatter = formatters.get(name) ?? newFormatter(name);
  formatters.set(name, formatter);
  return (instant) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of formatter.formatToParts(instant)) if (type !== 'literal') parts[type] = Number(value);
    const { year, month, day, hour, minute, second } = parts;
    return { year, month, day, weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(), hour, minute, second };
  };
}

function newFormatter(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric';
  return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
}

/** RFC 3339 with the offset of the zone. */
export function formatInZone(instant: number, zone: Zone): string {
  const { year, month, day, hour, minute, second } = zone(instant);
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  const offset = Math.round((local - Math.floor(instant / 1000) * 1000) / 60_000);
  const text = new Date(local).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${text}${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
}
