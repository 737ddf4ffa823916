import { fieldErrorText, invalid } from './field-error.ts';
import { compareText } from './go-text.ts';
import type { LabelOperator, LabelRequirement } from './label-selector.ts';
import { isQualifiedName } from './names.ts';
import { badRequestError, StatusError } from './status.ts';

/** The grammar of `labelSelector`: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2`. */

type TokenKind = 'end' | 'identifier' | 'error' | ')' | '(' | ',' | '!' | '==' | '=' | '>' | '<' | '!=' | 'in' | 'notin';

interface Token {
  kind: TokenKind;
  text: string;
}

const SYMBOLS = new Set(['=', '!', '(', ')', ',', '>', '<']);
const SYMBOL_TOKENS = new Set([')', '(', ',', '!', '==', '=', '>', '<', '!=']);
const WHITESPACE = new Set([' ', '\t', '\r', '\n']);

function scanSymbol(text: string, start: number): Token {
  let found = '';
  let end = start;
  while (end < text.length && SYMBOLS.has(text[end])) {
    const candidate = text.slice(start, end + 1);
    if (SYMBOL_TOKENS.has(candidate)) found = candidate;
    else if (found !== '') break;
    end++;
  }
  if (found === '') return { kind: 'error', text: `error expected: keyword found '${text.slice(start, end)}'` };
  return { kind: found as TokenKind, text: found };
}

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length && text[position] !== '\0') {
    const character = text[position];
    if (WHITESPACE.has(character)) position++;
    else if (SYMBOLS.has(character)) {
      const token = scanSymbol(text, position);
      tokens.push(token);
      position += Math.max(1, token.kind === 'error' ? 1 : token.text.length);
    } else {
      const start = position;
      while (position < text.length && !SYMBOLS.has(text[position]) && !WHITESPACE.has(text[position]) && text[position] !== '\0')
        position++;
      const word = text.slice(start, position);
      tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
    }
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

const OPERATOR_TOKENS: Partial<Record<TokenKind, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

class Parser {
  readonly #tokens: Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  /** `in` and `notin` are words like others wherever no operator is expected. */
  #peek(): Token {
    const token = this.#tokens[this.#position];
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#position++;
    return token;
  }

  requirements(accept: (requirement: LabelRequirement) => LabelRequirement): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const next = this.#peek();
      if (next.kind === 'end') return requirements;
      if (next.kind !== 'identifier' && next.kind !== '!') {
        throw badRequestError(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      try {
        requirements.push(accept(this.#requirement()));
      } catch (error) {
        if (error instanceof StatusError) throw badRequestError(`unable to parse requirement: ${error.message}`);
        throw error;
      }
      const separator = this.#take();
      if (separator.kind === 'end') return requirements;
      if (separator.kind !== ',') throw badRequestError(`found '${separator.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw badRequestError(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!';
    if (negated) this.#take();
    const key = this.#take();
    if (key.kind !== 'identifier') throw badRequestError(`found '${key.text}', expected: identifier`);
    const messages = isQualifiedName(key.text);
    if (messages.length > 0) throw badRequestError(fieldErrorText(invalid('<nil>', key.text, messages.join('; '))));
    const next = this.#peek().kind;
    if (negated) return { key: key.text, operator: '!', values: [] };
    if (next === 'end' || next === ',') return { key: key.text, operator: 'exists', values: [] };
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    return { key: key.text, operator, values };
  }

  #operator(): LabelOperator {
    const token = this.#tokens[this.#position];
    const operator = OPERATOR_TOKENS[token.kind];
    if (!operator) throw badRequestError(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    this.#position++;
    return operator;
  }

  #value(): string {
    const next = this.#peek();
    if (next.kind === 'end' || next.kind === ',') return '';
    this.#take();
    if (next.kind !== 'identifier') throw badRequestError(`found '${next.text}', expected: identifier`);
    return next.text;
  }

  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') throw badRequestError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ')') {
      this.#take();
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',') {
      throw badRequestError(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.#list();
    this.#take();
    return [...values].sort(compareText);
  }

  /** Up to the closing parenthesis; a missing value between or beside commas is the empty string. */
  #list(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      const next = this.#peek();
      if (token.kind === 'identifier') {
        values.add(token.text);
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw badRequestError(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.size === 0 || next.kind === ')' || next.kind === ',') values.add('');
        if (next.kind === ')') return values;
      } else throw badRequestError(`found '${token.text}', expected: ',', or identifier`);
    }
  }
}

/** `accept` validates each requirement. @throws StatusError BadRequest */
export function parseLabelRequirements(text: string, accept: (requirement: LabelRequirement) => LabelRequirement): LabelRequirement[] {
  return new Parser(text).requirements(accept);
}
