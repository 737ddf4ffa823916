import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { checkManifest, type Finding } from '../../api/adapstory.com/v1/check-manifest.ts';
import type { PluginManifest } from '../../api/adapstory.com/v1/plugin-manifest.ts';

/** Something wrong in a file, and where. */
export interface Problem {
  file: string;
  line: number;
  column: number;
  message: string;
}

export interface ReadManifest {
  /** Set when there are no problems. */
  manifest?: PluginManifest;
  problems: Problem[];
  /** Where the value at a path stands. */
  locate(path: (string | number)[]): { line: number; column: number };
}

export const MAX_MANIFEST_BYTES = 1024 * 1024;
/** Aliases multiply: a few lines of them can mean gigabytes. */
const MAX_ALIASES = 50;

/** Reads `plugin.yaml`: all that is wrong with it, each with its line and column. */
export function readManifest(text: string, file: string): ReadManifest {
  const lines = new LineCounter();
  const position = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const start = { line: 1, column: 1 };
  const failed = (message: string, at = start): ReadManifest => ({ problems: [{ file, ...at, message }], locate: () => start });
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES) return failed(`it is larger than ${MAX_MANIFEST_BYTES} bytes`);
  let document: Document.Parsed;
  let value: unknown;
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, schema: 'core' });
    const [error] = document.errors;
    if (error) return failed(`expected YAML: ${error.message.split('\n')[0]}`, position(error.pos[0]));
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    // The parser calls itself for every level.
    if (error instanceof RangeError) return failed('it is nested too deeply');
    const { message } = error as Error;
    return failed(message.includes('Excessive alias') ? `more than ${MAX_ALIASES} aliases are not expanded` : `expected YAML: ${message}`);
  }
  const locate = (path: (string | number)[]) => position(offsetOf(document, path));
  const problems = checkManifest(value).map((finding) => ({ file, ...locate(finding.path), message: sentence(finding) }));
  return { ...(problems.length === 0 ? { manifest: value as PluginManifest } : {}), problems, locate };
}

function sentence({ path, message }: Finding): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** The key of a field where there is one, else the item, else the innermost of what is there. */
function offsetOf(document: Document.Parsed, path: (string | number)[]): number {
  for (let depth = path.length; depth > 0; depth--) {
    const parent: unknown = depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
    const last = path[depth - 1];
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === String(last));
      if (pair && isNode(pair.key)) return pair.key.range?.[0] ?? 0;
    }
    const node: unknown = document.getIn(path.slice(0, depth), true);
    if (isNode(node)) return (node as Node).range?.[0] ?? 0;
  }
  return document.contents?.range?.[0] ?? 0;
}
