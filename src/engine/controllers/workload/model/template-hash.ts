import type { Json } from '../../../../kube/object.ts';

const SAFE_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short name for a template. Upstream hashes Go's printout of it, which nobody else can reproduce; nothing depends on the value, since
 * templates are compared as a whole. `collisions` gives a template whose name is taken another one.
 */
export function templateHash(template: Json, collisions: number | undefined): string {
  let hash = fnv32a(0x811c9dc5, canonicalJson(template));
  if (collisions !== undefined) hash = fnv32a(hash, String(collisions));
  return safeEncode(String(hash));
}

/** FNV-1a over the characters. */
function fnv32a(seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

/** As Kubernetes does, so that no hash spells a word. */
function safeEncode(text: string): string {
  let encoded = '';
  for (let i = 0; i < text.length; i++) encoded += SAFE_ALPHABET[text.charCodeAt(i) % SAFE_ALPHABET.length];
  return encoded;
}

/** JSON with ordered keys: equal values have equal text. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    .join(',')}}`;
}
