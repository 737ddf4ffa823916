import { JsonPathError, parseJsonPath } from '../../kube/json-path.ts';
import type { Json } from '../../kube/object.ts';

type Part =
  | { kind: 'text'; text: string }
  | { kind: 'path'; find: (root: Json) => Json[] }
  | { kind: 'range'; find: (root: Json) => Json[]; body: Part[] };

/** kubectl's `-o jsonpath=`: text with `{.paths}`, `{"text"}` and `{range .list[*]}...{end}`. A template without braces is a path. */
export function jsonPathTemplate(template: string): (root: Json) => string {
  const whole = template.includes('{') ? template : `{${template.startsWith('.') || template.startsWith('$') ? '' : '.'}${template}}`;
  try {
    const parts = parse(tokens(whole));
    return (root) => render(parts, root);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new Error(`Cannot read the JSONPath template "${template}": ${error.message}; write one such as {.status.phase}`, {
      cause: error,
    });
  }
}

/** Texts as they are, and what is in braces with them. */
function tokens(template: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (let at = 0; at < template.length; at++) {
    if (template[at] !== '{') continue;
    if (at > start) found.push(template.slice(start, at));
    const end = closingBrace(template, at);
    found.push(template.slice(at, end + 1));
    start = end + 1;
    at = end;
  }
  if (start < template.length) found.push(template.slice(start));
  return found;
}

function closingBrace(template: string, from: number): number {
  let quote = '';
  for (let at = from + 1; at < template.length; at++) {
    const character = template[at];
    if (quote !== '' && character === '\\') at++;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '}') return at;
  }
  throw new JsonPathError('unclosed action');
}

function parse(list: string[]): Part[] {
  const stack: Part[][] = [[]];
  for (const token of list) {
    const parts = stack.at(-1)!;
    if (!token.startsWith('{')) {
      parts.push({ kind: 'text', text: token });
      continue;
    }
    const action = token.slice(1, -1).trim();
    if (action === 'end') {
      if (stack.length === 1) throw new JsonPathError('not in range, nothing to end');
      stack.pop();
    } else if (/^range\s/.test(action)) {
      const body: Part[] = [];
      parts.push({ kind: 'range', find: path(action.slice('range'.length).trim()), body });
      stack.push(body);
    } else if (/^["']/.test(action)) parts.push({ kind: 'text', text: unquoted(action) });
    else parts.push({ kind: 'path', find: path(action) });
  }
  if (stack.length > 1) throw new JsonPathError('unterminated range');
  return stack[0];
}

function path(text: string): (root: Json) => Json[] {
  if (!/^[.$@[]/.test(text)) throw new JsonPathError(`unrecognized identifier ${text}`);
  return parseJsonPath(text);
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

function unquoted(text: string): string {
  if (text.length < 2 || text.at(-1) !== text[0]) throw new JsonPathError(`unterminated quoted string`);
  return text.slice(1, -1).replaceAll(/\\(.)/gs, (_, character: string) => ESCAPES[character] ?? character);
}

function render(parts: Part[], root: Json): string {
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      const found = part.find(root);
      return part.kind === 'range' ? found.map((item) => render(part.body, item)).join('') : found.map(textOf).join(' ');
    })
    .join('');
}

function textOf(value: Json): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
