import type { Json } from './object.ts';
import { isJsonObject } from './json-value.ts';

/**
 * kubectl's JSONPath, as printer columns use it: fields, `['field']`, indexes, slices, unions, `*`, `..` and filters.
 * Missing fields give no results.
 */
type Step =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  | { kind: 'recursive' }
  | { kind: 'slice'; from?: number; to?: number; step?: number }
  | { kind: 'union'; steps: Step[][] }
  | { kind: 'filter'; left: Operand; operator: string; right?: Operand };

type Operand = { path: Step[] } | { value: Json };

export class JsonPathError extends Error {}

/** @throws JsonPathError when the text is no path */
export function parseJsonPath(text: string): (root: Json) => Json[] {
  const steps = new PathParser(text).parse();
  return (root) => follow([root], steps);
}

class PathParser {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  parse(): Step[] {
    const steps: Step[] = [];
    if (this.text[this.at] === '$' || this.text[this.at] === '@') this.at++;
    while (this.at < this.text.length) {
      const character = this.text[this.at];
      if (character === '.') this.readDot(steps);
      else if (character === '[') steps.push(this.readBracket());
      else if (this.at === 0) steps.push(this.readName());
      else
        throw new JsonPathError(
          `unrecognized character in action: U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
        );
    }
    return steps;
  }

  private readDot(steps: Step[]): void {
    this.at++;
    if (this.text[this.at] === '.') {
      this.at++;
      steps.push({ kind: 'recursive' });
      if (this.text[this.at] === '[') return;
    }
    if (this.text[this.at] === '[' || this.at >= this.text.length) return;
    steps.push(this.readName());
  }

  private readName(): Step {
    let name = '';
    while (this.at < this.text.length && !'.[ ]'.includes(this.text[this.at])) {
      if (this.text[this.at] === '\\' && this.at + 1 < this.text.length) this.at++;
      name += this.text[this.at++];
    }
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name };
  }

  /** The text up to the bracket that closes the one at the current place, quotes and nesting respected. */
  private readBracketed(): string {
    const start = ++this.at;
    let depth = 1;
    let quoteMark = '';
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (quoteMark !== '') {
        if (character === '\\') this.at++;
        else if (character === quoteMark) quoteMark = '';
      } else if (character === '"' || character === "'") quoteMark = character;
      else if (character === '[') depth++;
      else if (character === ']' && --depth === 0) return this.text.slice(start, this.at++);
    }
    throw new JsonPathError('unterminated array');
  }

  private readBracket(): Step {
    const inner = this.readBracketed().trim();
    if (inner.startsWith('?(') && inner.endsWith(')')) return readFilter(inner.slice(2, -1));
    const parts = splitOutsideQuotes(inner, ',');
    if (parts.length === 1) return readIndex(parts[0].trim());
    return { kind: 'union', steps: parts.map((part) => [readIndex(part.trim())]) };
  }
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [''];
  let quoteMark = '';
  for (const character of text) {
    if (quoteMark === '' && character === separator) {
      parts.push('');
      continue;
    }
    if (quoteMark !== '' ? character === quoteMark : character === '"' || character === "'") quoteMark = quoteMark === '' ? character : '';
    parts[parts.length - 1] += character;
  }
  return parts;
}

function readIndex(text: string): Step {
  if (text === '*') return { kind: 'wildcard' };
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted !== null) return { kind: 'field', name: quoted[2].replaceAll(/\\(.)/g, '$1') };
  const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(text);
  if (slice === null || text === '') {
    if (/^[A-Za-z_][\w-]*$/.test(text)) return { kind: 'field', name: text };
    throw new JsonPathError(`invalid array index ${text}`);
  }
  const number = (part: string | undefined): number | undefined => (part === undefined || part === '' ? undefined : Number(part));
  const from = number(slice[1]);
  if (slice[2] === undefined) return { kind: 'slice', from, to: from === -1 || from === undefined ? undefined : from + 1, step: 1 };
  return { kind: 'slice', from, to: number(slice[2]), step: number(slice[3]) };
}

function readFilter(text: string): Step {
  const match = /^(.*?)\s*(==|!=|<=|>=|<|>)\s*(.*)$/s.exec(text.trim());
  if (match === null) return { kind: 'filter', left: readOperand(text), operator: 'exists' };
  return { kind: 'filter', left: readOperand(match[1]), operator: match[2], right: readOperand(match[3]) };
}

function readOperand(text: string): Operand {
  const trimmed = text.trim();
  const quoted = /^(['"])(.*)\1$/s.exec(trimmed);
  if (quoted !== null) return { value: quoted[2].replaceAll(/\\(.)/g, '$1') };
  if (/^-?\d+(\.\d+)?$/.test(trimmed)) return { value: Number(trimmed) };
  if (trimmed === 'true' || trimmed === 'false') return { value: trimmed === 'true' };
  if (trimmed.startsWith('@') || trimmed.startsWith('.')) return { path: new PathParser(trimmed).parse() };
  throw new JsonPathError(`unrecognized identifier ${trimmed}`);
}

function follow(values: Json[], steps: readonly Step[]): Json[] {
  let current = values;
  for (const step of steps) current = current.flatMap((value) => applyStep(value, step));
  return current;
}

function applyStep(value: Json, step: Step): Json[] {
  switch (step.kind) {
    case 'field':
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'wildcard':
      return typeof value === 'object' && value !== null ? Object.values(value) : [];
    case 'recursive':
      return descendants(value);
    case 'slice':
      return Array.isArray(value) ? slice(value, step) : [];
    case 'union':
      return step.steps.flatMap((steps) => follow([value], steps));
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function descendants(value: Json): Json[] {
  const found: Json[] = [];
  const pending: Json[] = [value];
  for (let item = pending.shift(); item !== undefined; item = pending.shift()) {
    if (typeof item !== 'object' || item === null) continue;
    found.push(item);
    pending.push(...Object.values(item));
  }
  return found;
}

function slice(list: Json[], step: { from?: number; to?: number; step?: number }): Json[] {
  const place = (at: number | undefined, otherwise: number): number => (at === undefined ? otherwise : at < 0 ? at + list.length : at);
  const from = place(step.from, 0);
  const to = Math.min(place(step.to, list.length), list.length);
  if (from < 0 || from >= list.length || to < from) return [];
  const found: Json[] = [];
  for (let at = from; at < to; at += Math.max(1, step.step ?? 1)) found.push(list[at]);
  return found;
}

function passes(item: Json, filter: { left: Operand; operator: string; right?: Operand }): boolean {
  const [left] = operandValues(item, filter.left);
  if (filter.operator === 'exists') return left !== undefined;
  const [right] = operandValues(item, filter.right!);
  if (left === undefined || right === undefined) return false;
  switch (filter.operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

function operandValues(item: Json, operand: Operand): Json[] {
  return 'path' in operand ? follow([item], operand.path) : [operand.value];
}
