import { CelList, CelMap, CelOptional, CelUint, Fault, NONE, shown, typeNameOf, type CelValue } from './values.ts';

/** `value.field`. Inside an optional the result is optional too. */
export function selectField(value: CelValue, field: string): CelValue {
  if (value instanceof Fault) return value;
  if (value instanceof CelOptional) return value.value === undefined ? NONE : maybe(find(value.value, field));
  return find(value, field) ?? new Fault(`no such key: ${field}`);
}

/** `has(value.field)`. */
export function presence(value: CelValue, field: string): CelValue {
  if (value instanceof Fault) return value;
  if (value instanceof CelOptional) return value.value !== undefined && presence(value.value, field);
  const found = find(value, field);
  return found instanceof Fault ? found : found !== undefined;
}

/** `value[key]`, or `value[?key]` and `value.?key` when optional. */
export function indexValue(value: CelValue, key: CelValue, optional: boolean): CelValue {
  if (value instanceof Fault) return value;
  if (key instanceof Fault) return key;
  if (value instanceof CelOptional) return value.value === undefined ? NONE : maybe(find(value.value, key));
  const found = find(value, key);
  if (optional) return maybe(found);
  if (found !== undefined) return found;
  return new Fault(value instanceof CelList ? `index out of bounds: ${shown(key)}` : `no such key: ${shown(key)}`);
}

function maybe(found: CelValue | undefined): CelValue {
  if (found === undefined) return NONE;
  return found instanceof Fault ? found : new CelOptional(found);
}

/** Undefined when there is nothing under the key. */
function find(value: CelValue, key: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.find(key);
  if (!(value instanceof CelList)) return undefined;
  const position = toPosition(key);
  if (position === undefined) {
    return new Fault(
      typeof key === 'number' ? `unsupported index value ${key} in list` : `unsupported index type '${typeNameOf(key)}' in list`,
    );
  }
  return position >= 0 && position < value.size ? value.get(position) : undefined;
}

function toPosition(key: CelValue): number | undefined {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof CelUint) return Number(key.value);
  return typeof key === 'number' && Number.isInteger(key) ? key : undefined;
}
