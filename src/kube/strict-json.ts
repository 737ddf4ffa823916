import { findDuplicateFields, JsonSyntaxError } from './json-scanner.ts';
import type { Json } from './object.ts';

export { JsonSyntaxError } from './json-scanner.ts';

export interface ParseOptions {
  /** How deep objects and lists may nest. Real objects stay far below; recursive code stays safe. */
  maxDepth?: number;
  /** Told the path (`spec.replicas`, `metadata.labels.a`, `spec.containers[0].name`) of every field that is given twice. */
  onDuplicate?: (path: string) => void;
}

const DEFAULT_MAX_DEPTH = 1000;
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Counts the keys in text that is known to be valid JSON: colons outside strings. */
function countWrittenKeys(text: string): number {
  let keys = 0;
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i);
    if (c === 58) keys++;
    else if (c === 34) {
      for (;;) {
        const d = text.charCodeAt(++i);
        if (d === 92) i++;
        else if (d === 34) break;
      }
    }
  }
  return keys;
}

class TooDeep extends Error {}

/** Counts the keys that survived parsing, and checks depth and numbers on the way. */
export function countKeptKeys(value: Json, depth: number): number {
  let keys = 0;
  if (Array.isArray(value)) {
    if (depth === 0) throw new TooDeep();
    for (let i = 0; i < value.length; i++) {
      const item = value[i];
      if (typeof item === 'object' && item !== null) keys += countKeptKeys(item, depth - 1);
      else if (item === Infinity || item === -Infinity) throw outOfRange();
    }
    return keys;
  }
  if (depth === 0) throw new TooDeep();
  const names = Object.keys(value);
  keys = names.length;
  for (let i = 0; i < names.length; i++) {
    const item = value[names[i]];
    if (typeof item === 'object' && item !== null) keys += countKeptKeys(item, depth - 1);
    else if (item === Infinity || item === -Infinity) throw outOfRange();
  }
  return keys;
}

function outOfRange(): JsonSyntaxError {
  return new JsonSyntaxError('json: cannot unmarshal number into Go value of type float64', 0);
}

/**
 * JSON.parse with Go's messages, a depth limit and duplicate fields found. Good input costs one parse, one look at the text
 * and one at the value; only text whose keys repeat is read again to name them.
 * @throws JsonSyntaxError
 */
export function parseStrict(input: string | Uint8Array, options: ParseOptions = {}): Json {
  const text = typeof input === 'string' ? input : utf8.decode(input);
  const maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH;
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    findDuplicateFields(text, maxDepth);
    throw new JsonSyntaxError((error as Error).message, 0);
  }
  if (typeof value !== 'object' || value === null) return value;
  let kept: number;
  try {
    kept = countKeptKeys(value, maxDepth);
  } catch (error) {
    if (error instanceof TooDeep) findDuplicateFields(text, maxDepth);
    throw error;
  }
  if (options.onDuplicate && kept !== countWrittenKeys(text)) findDuplicateFields(text, maxDepth).forEach(options.onDuplicate);
  return value;
}
