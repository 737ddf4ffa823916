import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Json } from '../../../kube/object.ts';
import { badRequestError } from '../../../kube/status.ts';

/** What aliases may multiply a document by: enough for anchors that people write, not for a bomb. */
const MAX_ALIASES = 100;

/** A YAML text and, in the words of Go's parser, the keys that a map in it sets twice. The last one counts. */
export function parseYamlText(text: string): { value: Json; duplicates: string[] } {
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, { uniqueKeys: false, lineCounter: lines });
    if (document.errors.length > 0) throw document.errors[0];
    const value: Json = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { value, duplicates: yamlFindings(repeatedKeys(document.contents, lines)) };
  } catch (error) {
    throw badRequestError(`error converting YAML to JSON: ${(error as Error).message}`);
  }
}

function yamlFindings(lines: string[]): string[] {
  return lines.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${lines.join('\n  ')}`];
}

/** In the order in which Go's decoder meets them: what a value holds comes before the key of that value. */
function repeatedKeys(node: unknown, lines: LineCounter, found: string[] = []): string[] {
  if (isSeq(node)) for (const item of node.items) repeatedKeys(item, lines, found);
  if (!isMap(node)) return found;
  const seen = new Set<unknown>();
  for (const { key, value } of node.items) {
    repeatedKeys(value, lines, found);
    if (!isScalar(key)) continue;
    const place = isPlaced(value) ? value : key;
    if (seen.has(key.value) && isPlaced(place)) {
      found.push(`line ${lines.linePos(place.range[0]).line}: key ${JSON.stringify(key.value)} already set in map`);
    }
    seen.add(key.value);
  }
  return found;
}

function isPlaced(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && Array.isArray((node as { range?: unknown }).range);
}
