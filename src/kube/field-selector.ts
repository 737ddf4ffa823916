import { compareText } from './go-text.ts';
import { badRequestError } from './status.ts';

export interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** Ends of terms: commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = '';
  let escaped = false;
  for (const character of text) {
    if (escaped) {
      if (!'\\,='.includes(character)) throw badRequestError(`invalid field selector: invalid escape sequence: \\${character}`);
      value += character;
      escaped = false;
    } else if (character === '\\') escaped = true;
    else if (character === ',' || character === '=') {
      throw badRequestError(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else value += character;
  }
  if (escaped) throw badRequestError('invalid field selector: invalid escape sequence: \\');
  return value;
}

/** Reads the `fieldSelector` query syntax, terms in their order of bytes. @throws StatusError BadRequest */
export function parseFieldSelector(text: string): FieldRequirement[] {
  if (text === '') return [];
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort(compareText)) {
    if (term === '') continue;
    const operator = /!=|==|=/.exec(term);
    if (!operator) throw badRequestError(`invalid selector: '${text}'; can't understand '${term}'`);
    const value = unescapeValue(term.slice(operator.index + operator[0].length));
    requirements.push({ field: term.slice(0, operator.index), operator: operator[0] === '!=' ? '!=' : '=', value });
  }
  return requirements;
}

export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements.map((r) => `${r.field}${r.operator}${r.value.replace(/[\\,=]/g, '\\$&')}`).join(',');
}

/** `read` gives the value of a field, '' for one that is not set. */
export function matchesFields(requirements: readonly FieldRequirement[], read: (field: string) => string): boolean {
  for (const { field, operator, value } of requirements) {
    if ((read(field) === value) !== (operator === '=')) return false;
  }
  return true;
}

/** The value a field must have exactly, e.g. for metadata.name, which turns a list into a get. */
export function requiresExactField(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((r) => r.field === field && r.operator === '=')?.value;
}
