import { marshal } from '../../../kube/go-text.ts';

/** encoding/json of a decoded JSON value: keys of maps are sorted. `sortKeys` is off for values that stand for Go structs. */
export function goJson(value: unknown, sortKeys = true): string {
  if (typeof value !== 'object' || value === null) return marshal(value ?? null);
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item, sortKeys)).join(',')}]`;
  const record = value as Record<string, unknown>;
  const keys = Object.keys(record).filter((key) => record[key] !== undefined);
  if (sortKeys) keys.sort();
  return `{${keys.map((key) => `${marshal(key)}:${goJson(record[key], sortKeys)}`).join(',')}}`;
}
