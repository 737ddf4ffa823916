/** On the records of what a tenant used; the value is the tenant. Whatever carries it is part of the tenant's report, whoever wrote it. */
export const METERING_LABEL = 'tenantry.dev/metering';
/** Until when the record of a month is complete. */
export const METERED_UNTIL = 'tenantry.dev/metered-until';
export const METERING_NAMESPACE = 'tenantry-system';

/** In the order in which they are written: new ones go to the end. */
export const MEASURES = [
  'cpuSeconds',
  'cpuUsedSeconds',
  'memoryGiBHours',
  'memoryUsedGiBHours',
  'storageGiBHours',
  'runs',
  'runSeconds',
  'tokens',
] as const;
export type Measure = (typeof MEASURES)[number];
export type Amounts = Partial<Record<Measure, number>>;

/** By hour (`2026-11-15T13`) or day (`2026-11-15`), in UTC, and by namespace. */
export type UsageRows = Map<string, Map<string, Amounts>>;

const HOUR_MS = 3_600_000;
/** What is older is kept by the day. */
const HOURS_KEPT = 48;
/** Namespaces with a row of their own in a record; what the others used is one row, so that a record stays small. */
const NAMESPACES_KEPT = 100;
export const OTHER_NAMESPACES = '(others)';
/** Rounded with every write, so that what little is added at a time is not lost: to a millionth. */
const PRECISION = 1e6;

export function hourOf(time: number): string {
  return new Date(time).toISOString().slice(0, 13);
}

export function monthOf(period: string): string {
  return period.slice(0, 7);
}

export function startOf(period: string): number {
  return Date.parse(period.length > 10 ? `${period}:00:00Z` : `${period}T00:00:00Z`);
}

/** `feeder` names who else but the meter counts for the tenant, such as a gateway its tokens. */
export function recordName(tenant: string, month: string, feeder?: string): string {
  return `metering.${tenant}.${month}${feeder === undefined ? '' : `.${feeder}`}`;
}

/** The data of a record; what cannot be read was written by nobody of us, and is left out. */
export function readRows(data: Readonly<Record<string, string>> | undefined): UsageRows {
  const rows: UsageRows = new Map();
  for (const [period, text] of Object.entries(data ?? {})) {
    if (Number.isNaN(startOf(period))) continue;
    const namespaces = Object.entries(JSON.parse(text) as Record<string, number[]>);
    rows.set(period, new Map(namespaces.map(([namespace, numbers]) => [namespace, amountsOf(numbers)])));
  }
  return rows;
}

export function writeRows(rows: UsageRows): Record<string, string> {
  const data: Record<string, string> = {};
  for (const [period, namespaces] of rows)
    data[period] = JSON.stringify(Object.fromEntries(Array.from(namespaces, ([name, amounts]) => [name, numbersOf(amounts)])));
  return data;
}

export function addRow(rows: UsageRows, period: string, namespace: string, amounts: Amounts): void {
  if (!MEASURES.some((measure) => amounts[measure])) return;
  const namespaces = rows.get(period) ?? new Map<string, Amounts>();
  rows.set(period, namespaces);
  const known = namespaces.has(namespace) || namespaces.size < NAMESPACES_KEPT;
  const name = known ? namespace : OTHER_NAMESPACES;
  namespaces.set(name, sum(namespaces.get(name) ?? {}, amounts));
}

export function addRows(rows: UsageRows, more: UsageRows): void {
  for (const [period, namespaces] of more) for (const [namespace, amounts] of namespaces) addRow(rows, period, namespace, amounts);
}

/** The same use with old hours put together to days. */
export function compacted(rows: UsageRows, now: number): UsageRows {
  const result: UsageRows = new Map();
  for (const [period, namespaces] of rows) {
    const isOld = startOf(period) <= now - HOURS_KEPT * HOUR_MS;
    const kept = isOld ? period.slice(0, 10) : period;
    for (const [namespace, amounts] of namespaces) addRow(result, kept, namespace, amounts);
  }
  return result;
}

export function sum(a: Amounts, b: Amounts): Amounts {
  const total: Amounts = { ...a };
  for (const measure of MEASURES) if (b[measure]) total[measure] = (a[measure] ?? 0) + b[measure];
  return total;
}

function amountsOf(numbers: readonly number[]): Amounts {
  return Object.fromEntries(MEASURES.flatMap((measure, index) => (numbers[index] ? [[measure, numbers[index]]] : [])));
}

function numbersOf(amounts: Amounts): number[] {
  const numbers = MEASURES.map((measure) => Math.round((amounts[measure] ?? 0) * PRECISION) / PRECISION);
  while (numbers.length > 0 && numbers.at(-1) === 0) numbers.pop();
  return numbers;
}
