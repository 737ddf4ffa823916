import { compareText, marshal, printAny, quote } from '../../../kube/go-text.ts';
import type { Json } from '../../../kube/object.ts';

/**
 * One step of a path in a set of fields, as the text that FieldsV1 uses for it: `f:name` a field, `k:{"name":"x"}` the item of a list
 * with these keys, `v:"x"` the item of a set with this value, `i:0` the item at an index. The text is canonical, so equal texts
 * are equal steps and sets need no other identity.
 */

const MAX_INTERNED = 4096;
const interned = new Map<string, string>();

/** Keys of maps come back with every write of an object; making their steps anew each time would cost more than the rest. */
export function fieldElement(name: string): string {
  let element = interned.get(name);
  if (element === undefined) {
    element = `f:${name}`;
    if (interned.size >= MAX_INTERNED) interned.clear();
    if (name.length < 256) interned.set(name, element);
  }
  return element;
}

/** Text that JSON writes as it stands, also where it escapes what matters in HTML. */
const PLAIN = /^[\x20\x21\x23-\x25\x27-\x3b\x3d\x3f-\x5b\x5d-\x7e]*$/;

function scalarJson(value: Json): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  return typeof value === 'number' ? String(value) : marshal(value);
}

export function valueElement(value: Json): string {
  return `v:${scalarJson(value)}`;
}

/** `fields` must come in the order of their names. */
export function keyElement(fields: readonly (readonly [name: string, value: Json])[]): string {
  let text = 'k:{';
  for (const [name, value] of fields) text += `${text.length > 3 ? ',' : ''}${scalarJson(name)}:${scalarJson(value)}`;
  return `${text}}`;
}

/** The step to an item that one field tells apart. */
export function singleKeyElement(name: string, value: Json): string {
  return `k:{"${name}":${scalarJson(value)}}`;
}

function kindOrder(element: string): number {
  return 'fkvi'.indexOf(element[0]);
}

/** Fields, then keys, then values, then indexes; each kind in its own order. */
export function compareElements(a: string, b: string): number {
  const kinds = kindOrder(a) - kindOrder(b);
  if (kinds !== 0) return kinds;
  switch (a[0]) {
    case 'f':
      return compareText(a, b);
    case 'i':
      return Number(a.slice(2)) - Number(b.slice(2));
    case 'k':
      if (isTextKey(a) && isTextKey(b)) return compareText(a.slice(0, -2), b.slice(0, -2));
      return compareKeys(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
    default:
      return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
  }
}

/** One key with a text value: such steps compare as text, without reading them. */
function isTextKey(element: string): boolean {
  return element.endsWith('"}') && element.includes('":"') && !element.includes(',') && !element.includes('\\');
}

function compareKeys(a: Record<string, Json>, b: Record<string, Json>): number {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareText(left[i][0], right[i][0]) || compareValues(left[i][1], right[i][1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const VALUE_KINDS = ['number', 'string', 'boolean'];

function compareValues(a: Json, b: Json): number {
  if (typeof a !== typeof b) return VALUE_KINDS.indexOf(typeof a) - VALUE_KINDS.indexOf(typeof b);
  if (typeof a === 'number') return a - b;
  return compareText(String(a), String(b));
}

/**
 * The canonical form of a step that a client sent; undefined for kinds of steps that do not exist (yet), which are skipped.
 * @throws Error when it cannot be read
 */
export function canonicalElement(text: string): string | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:');
  if (text[1] !== ':') throw new Error(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(JSON.parse(text.slice(2)));
    case 'k': {
      const key: Json = JSON.parse(text.slice(2));
      if (typeof key !== 'object' || key === null || Array.isArray(key)) throw new Error(`invalid key: ${text}`);
      return keyElement(Object.entries(key as Record<string, Json>).sort(([a], [b]) => compareText(a, b)));
    }
    case 'i':
      if (!/^i:[+-]?\d+$/.test(text)) throw new Error(`strconv.Atoi: parsing ${quote(text.slice(2))}: invalid syntax`);
      return `i:${Number(text.slice(2))}`;
    default:
      return undefined;
  }
}

function printScalar(value: Json): string {
  return typeof value === 'string' ? quote(value) : printAny(value);
}

/** How messages name a step: `.image`, `[name="web"]`, `[="x"]`, `[0]`. */
export function printElement(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const fields = Object.entries(JSON.parse(rest) as Record<string, Json>);
      return `[${fields.map(([name, value]) => `${name}=${printScalar(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${printScalar(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}
