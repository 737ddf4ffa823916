/**
 * A private copy with the meaning JSON gives it (undefined fields dropped, dates as text), without making text of it: a caller may go on
 * using what it sent, and may send parts of frozen objects.
 */
export function wireCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const item of value) copy.push(item === undefined ? null : wireCopy(item));
    return copy;
  }
  if (ArrayBuffer.isView(value)) return value;
  const { toJSON } = value as { toJSON?: () => unknown };
  if (typeof toJSON === 'function') return wireCopy(toJSON.call(value));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    // Assignment to __proto__ would change the copy's prototype instead of making a field.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: wireCopy(field), enumerable: true, configurable: true, writable: true });
    else copy[key] = wireCopy(field);
  }
  return copy;
}
