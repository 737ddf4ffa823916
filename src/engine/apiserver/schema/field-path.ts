import type { Schema } from '../../../kube/schema.ts';
import { child, key } from './findings.ts';

export interface ResolvedFieldPath {
  /** As findings write it, e.g. `spec.labels[app]`. */
  path: string;
  /** The first name in it. */
  root: string;
  /** The schema there; undefined below `additionalProperties: true`. */
  schema: Schema | undefined;
}

/** Splits a path at `.`, `[` and `]`, which are tokens of their own outside single quotes. */
function tokens(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = from;
    if (text[from] === "'") {
      to = from + 1;
      while (to < text.length && !(text[to] === "'" && text[to - 1] !== '\\')) to++;
      to++;
    } else if ('.[]'.includes(text[from])) to = from + 1;
    else while (to < text.length && !'.[]'.includes(text[to])) to++;
    found.push(text.slice(from, Math.min(to, text.length)));
    from = to;
  }
  return found;
}

const ESCAPES: Record<string, string> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' };

/**
 * Follows a restricted JSON path (fields, and map keys as `['key']`) through a schema.
 * @returns what it leads to, or the complaint about it
 */
export function resolveFieldPath(schema: Schema, text: string, allowsBrackets = true): ResolvedFieldPath | string {
  const parts = tokens(text);
  const state: ResolvedFieldPath = { path: '', root: '', schema };
  for (let at = 0; at < parts.length; at++) {
    const bracket = parts[at] === '[';
    if (!bracket && parts[at] !== '.') return `expected [ or . but got: ${parts[at]}`;
    if (bracket && !allowsBrackets) return 'array notation is not allowed';
    at++;
    if (at >= parts.length) return 'unexpected end of JSON path';
    let name = parts[at];
    if (bracket) {
      if (name.length < 2 || !name.startsWith("'") || !name.endsWith("'")) return `expected single quoted string but got ${name}`;
      const bad = name.slice(1, -1).match(/\\[^abfnrtv'\\]/)?.[0];
      if (bad !== undefined) return `invalid string literal: invalid escape char ${bad}`;
      name = name.slice(1, -1).replaceAll(/\\(.)/g, (_, escape: string) => ESCAPES[escape]);
    }
    const complaint = step(state, name);
    if (complaint !== undefined) return complaint;
    if (!bracket) continue;
    at++;
    if (at >= parts.length) return 'unexpected end of JSON path';
    if (parts[at] !== ']') return `expected ] but got ${parts[at]}`;
  }
  return state;
}

function step(state: ResolvedFieldPath, name: string): string | undefined {
  const { properties, additionalProperties } = state.schema ?? {};
  if (state.root === '') state.root = name;
  if (properties !== undefined && Object.keys(properties).length > 0) {
    state.path = child(state.path, name);
    if (!Object.hasOwn(properties, name)) return 'does not refer to a valid field';
    state.schema = properties[name];
    return undefined;
  }
  if (additionalProperties === undefined || additionalProperties === null) return 'does not refer to a valid field';
  state.path = key(state.path, name);
  state.schema = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return undefined;
}
