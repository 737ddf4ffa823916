import type { Json, KubeObject } from '../../../../kube/object.ts';

/**
 * What is changed in an object, by JSON pointer; null removes. `/-` at the end adds to a list. Long texts are written
 * `{ "$repeat": "x", "times": 5 }`, in base64 if they say so.
 */
export type Change = Record<string, Json>;

function step(container: Json, key: string): string | number {
  if (!Array.isArray(container)) return key;
  return key === '-' ? container.length : Number(key);
}

function written(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if ('$repeat' in value) {
    const text: string = value.$repeat.repeat(value.times);
    return value.base64 ? Buffer.from(text).toString('base64') : text;
  }
  if (Array.isArray(value)) return value.map(written);
  return Object.fromEntries(Object.entries<Json>(value).map(([key, item]) => [key, written(item)]));
}

/** Applied in order to a copy. */
export function applyChange(object: KubeObject, change: Change): KubeObject {
  const copy = structuredClone(object);
  for (const [pointer, value] of Object.entries(change)) {
    const keys = pointer
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    let container: Json = copy;
    for (const key of keys.slice(0, -1)) {
      const at = step(container, key);
      container[at] ??= {};
      container = container[at];
    }
    const last = step(container, keys[keys.length - 1]);
    if (value !== null) container[last] = written(value);
    else if (Array.isArray(container)) container.splice(Number(last), 1);
    else delete container[last];
  }
  return copy;
}
