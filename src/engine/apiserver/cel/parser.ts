import type { Sliced } from '../schema/slices.ts';
import { measure, type CallExpr, type Expr, type ListExpr, type MapEntry, type StructExpr } from './ast.ts';
import type { CelIssue, CelSource } from './issues.ts';
import { tokenize, type Token } from './lexer.ts';
import { expandMacro, MacroError } from './macros.ts';
import { unescapeBytes, unescapeString } from './string-literal.ts';
import { CelUint, stringSize } from './values.ts';

/** Limits of cel-go: deeper or longer expressions are refused before they cost anything. */
const DEEPEST = 250;
const LONGEST = 100_000;
const RESERVED = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;
const RELATIONS = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);

const PRIMARY = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

class ParseFailure extends Error {}

function startsOperand(token: Token): boolean {
  if (token.kind === 'operator') return ['[', '{', '(', '.', '-'].includes(token.text);
  return token.kind !== 'end' && token.kind !== 'escaped-ident' && token.text !== 'in';
}

/** @returns the expression, or undefined when `issues` says what is wrong */
export function* parseCel(source: CelSource, issues: CelIssue[]): Sliced<Expr | undefined> {
  const size = source.text.length > LONGEST ? stringSize(source.text) : 0;
  if (size > LONGEST) {
    issues.push({ offset: -1, message: `expression code point size exceeds limit: size: ${size}, limit ${LONGEST}` });
    return undefined;
  }
  const tokens = yield* tokenize(source, issues, MOST_TOKENS);
  if (tokens.length > MOST_TOKENS) {
    issues.length = 0;
    issues.push({ offset: -1, message: `expression has too many parts: more than ${MOST_TOKENS} words and signs` });
    return undefined;
  }
  yield;
  try {
    const expr = new Parser(tokens, issues).parse();
    if (issues.length === 0) refuseHuge(expr, issues);
    return issues.length === 0 ? expr : undefined;
  } catch (error) {
    if (error instanceof ParseFailure) return undefined;
    throw error;
  }
}

/** cel-go would take as long as it takes. Here each step of a compilation has to fit into one turn of the event loop. */
const MOST_NODES = 2500;
const MOST_TOKENS = 6000;
const MOST_LEVELS = 600;

function refuseHuge(expr: Expr, issues: CelIssue[]): void {
  const { size, depth } = measure(expr);
  if (size > MOST_NODES) issues.push({ offset: -1, message: `expression has too many parts: ${size}, limit ${MOST_NODES}` });
  else if (depth > MOST_LEVELS) issues.push({ offset: -1, message: `expression nests too deeply: ${depth}, limit ${MOST_LEVELS}` });
}

class Parser {
  private readonly tokens: Token[];
  private readonly issues: CelIssue[];
  private at = 0;
  private depth = 0;

  constructor(tokens: Token[], issues: CelIssue[]) {
    this.tokens = tokens;
    this.issues = issues;
  }

  parse(): Expr {
    const expr = this.expression();
    if (this.token.kind === 'end') return expr;
    if (this.tokens[this.at + 1].kind !== 'end') this.unexpected('<EOF>');
    return this.fail(this.token.offset, `Syntax error: extraneous input '${this.token.text}' expecting <EOF>`);
  }

  private get token(): Token {
    return this.tokens[this.at];
  }

  private is(text: string): boolean {
    const { token } = this;
    return token.text === text && (token.kind === 'operator' || (token.kind === 'ident' && text === 'in'));
  }

  private accept(text: string): Token | undefined {
    return this.is(text) ? this.tokens[this.at++] : undefined;
  }

  private expect(text: string): Token {
    return this.accept(text) ?? this.unexpected(`'${text}'`);
  }

  private fail(offset: number, message: string): never {
    this.issues.push({ offset, message });
    throw new ParseFailure();
  }

  private unexpected(expected = PRIMARY): never {
    const { token } = this;
    const what = token.text.replaceAll('\n', '\\n');
    return this.fail(token.offset, `Syntax error: mismatched input '${what}' expecting ${expected}`);
  }

  /** A single token too many before an operand is reported and skipped, so that what follows is looked at too. */
  private skipExtraneous(): void {
    const { token } = this;
    const next = this.tokens[this.at + 1];
    if (next === undefined || !startsOperand(next)) this.unexpected();
    this.issues.push({ offset: token.offset, message: `Syntax error: extraneous input '${token.text}' expecting ${PRIMARY}` });
    this.at++;
  }

  private nested<T>(read: () => T): T {
    this.depth++;
    if (this.depth > DEEPEST) this.fail(-1, `expression recursion limit exceeded: ${DEEPEST}`);
    const result = read();
    this.depth--;
    return result;
  }

  private expression(): Expr {
    return this.nested(() => {
      const condition = this.or();
      const operator = this.accept('?');
      if (operator === undefined) return condition;
      const whenTrue = this.or();
      this.expect(':');
      const whenFalse = this.expression();
      return this.call(operator, '_?_:_', [condition, whenTrue, whenFalse]);
    });
  }

  private or(): Expr {
    return this.logic('||', '_||_', () => this.logic('&&', '_&&_', () => this.relation()));
  }

  /** Chains of one logical operator are one call: their order of evaluation is the same, and they cannot nest too deep. */
  private logic(operator: string, name: string, term: () => Expr): Expr {
    const first = term();
    if (!this.is(operator)) return first;
    const args = [first];
    let offset = this.token.offset;
    while (this.is(operator)) {
      offset = this.tokens[this.at++].offset;
      args.push(term());
    }
    return { kind: 'call', name, args, offset };
  }

  private relation(): Expr {
    let left = this.sum();
    while (RELATIONS.has(this.token.text) && this.is(this.token.text)) {
      const operator = this.tokens[this.at++];
      const right = this.sum();
      left = this.call(operator, operator.text === 'in' ? '@in' : `_${operator.text}_`, [left, right]);
    }
    return left;
  }

  private sum(): Expr {
    let left = this.product();
    while (this.is('+') || this.is('-')) {
      const operator = this.tokens[this.at++];
      left = this.call(operator, `_${operator.text}_`, [left, this.product()]);
    }
    return left;
  }

  private product(): Expr {
    let left = this.unary();
    while (this.is('*') || this.is('/') || this.is('%')) {
      const operator = this.tokens[this.at++];
      left = this.call(operator, `_${operator.text}_`, [left, this.unary()]);
    }
    return left;
  }

  private unary(): Expr {
    const operator = this.token;
    if (this.is('!')) {
      let count = 0;
      while (this.accept('!')) count++;
      const operand = this.member();
      return count % 2 === 0 ? operand : this.call(operator, '!_', [operand]);
    }
    if (!this.is('-')) return this.member();
    const next = this.tokens[this.at + 1];
    // A single minus before a number is part of the literal, so that the smallest int can be written.
    if (next.kind === 'int' || next.kind === 'double') return this.member();
    let count = 0;
    while (this.accept('-')) count++;
    const operand = this.member();
    return count % 2 === 0 ? operand : this.call(operator, '-_', [operand]);
  }

  private member(): Expr {
    let expr = this.primary();
    let steps = 0;
    for (;;) {
      if (this.depth + ++steps > DEEPEST) this.fail(-1, `expression recursion limit exceeded: ${DEEPEST}`);
      const operator = this.token;
      if (this.accept('.')) expr = this.selection(expr, operator);
      else if (this.accept('[')) {
        const optional = this.accept('?') !== undefined;
        const index = this.expression();
        this.expect(']');
        expr = this.call(operator, optional ? '_[?_]' : '_[_]', [expr, index]);
      } else return expr;
    }
  }

  private selection(operand: Expr, dot: Token): Expr {
    const optional = this.accept('?') !== undefined;
    const { token } = this;
    if (token.kind === 'escaped-ident') this.fail(token.offset, "unsupported syntax: '`'");
    if (token.kind !== 'ident') this.unexpected('{IDENTIFIER, ESC_IDENTIFIER}');
    const name = this.name(token);
    const open = optional ? undefined : this.accept('(');
    if (open !== undefined) return this.macroOrCall(open, name, this.arguments(), operand);
    if (!optional) return { kind: 'select', operand, field: name, testOnly: false, offset: dot.offset };
    const field: Expr = { kind: 'literal', value: name, offset: token.offset };
    return { kind: 'call', name: '_?._', args: [operand, field], offset: dot.offset };
  }

  /** A field or function name. Words of the grammar cannot be one. */
  private name(token: Token): string {
    if (token.text === 'in' || token.text === 'true' || token.text === 'false' || token.text === 'null') this.unexpected('IDENTIFIER');
    this.at++;
    return token.text;
  }

  private arguments(): Expr[] {
    const args: Expr[] = [];
    if (this.accept(')')) return args;
    do args.push(this.expression());
    while (this.accept(','));
    this.expect(')');
    return args;
  }

  private primary(): Expr {
    const { token } = this;
    if (this.is('-') || token.kind === 'int' || token.kind === 'uint' || token.kind === 'double') return this.number();
    if (token.kind === 'string' || token.kind === 'bytes') return this.text();
    if (this.accept('(')) {
      const inner = this.expression();
      this.expect(')');
      return inner;
    }
    if (this.accept('[')) return this.list(token);
    if (this.accept('{')) return this.map(token);
    if (token.kind === 'ident' || this.is('.')) return this.identifier();
    this.skipExtraneous();
    return this.primary();
  }

  private number(): Expr {
    const first = this.token;
    const sign = this.accept('-') ? '-' : '';
    const token = this.tokens[this.at++];
    const { offset } = first;
    if (token.kind === 'double') {
      const value = Number(sign + token.text);
      if (!Number.isFinite(value)) this.fail(offset, 'invalid double literal');
      return { kind: 'literal', value, offset };
    }
    const digits = token.kind === 'uint' ? token.text.slice(0, -1) : token.text;
    const value = sign === '-' ? -BigInt(digits) : BigInt(digits);
    if (token.kind === 'uint') {
      if (value > MAX_UINT) this.fail(offset, 'invalid uint literal');
      return { kind: 'literal', value: new CelUint(value), offset };
    }
    if (value > MAX_INT || value < -MAX_INT - 1n) this.fail(offset, 'invalid int literal');
    return { kind: 'literal', value, offset };
  }

  private text(): Expr {
    const token = this.tokens[this.at++];
    try {
      const value = token.kind === 'bytes' ? unescapeBytes(token.text.slice(1)) : unescapeString(token.text);
      return { kind: 'literal', value, offset: token.offset };
    } catch (error) {
      return this.fail(token.offset, (error as Error).message);
    }
  }

  private identifier(): Expr {
    const dot = this.accept('.');
    const { token } = this;
    if (token.kind !== 'ident') this.unexpected('IDENTIFIER');
    this.at++;
    const offset = dot?.offset ?? token.offset;
    if (dot === undefined && token.text === 'null') return { kind: 'literal', value: null, offset };
    if (dot === undefined && (token.text === 'true' || token.text === 'false')) {
      return { kind: 'literal', value: token.text === 'true', offset };
    }
    if (token.text === 'in') {
      this.at--;
      this.unexpected();
    }
    const message = this.message(token, dot !== undefined);
    if (message !== undefined) return message;
    if (RESERVED.has(token.text)) this.fail(token.offset, `reserved identifier: ${token.text}`);
    const open = this.accept('(');
    if (open !== undefined) return this.macroOrCall(open, token.text, this.arguments());
    return { kind: 'ident', name: token.text, offset: token.offset };
  }

  /** `a.b.C{...}`, recognized by the brace after a chain of names. */
  private message(first: Token, leadingDot: boolean): StructExpr | undefined {
    let to = this.at;
    while (this.tokens[to].text === '.' && this.tokens[to + 1].kind === 'ident') to += 2;
    if (this.tokens[to].text !== '{' || this.tokens[to].kind !== 'operator') return undefined;
    const names = [first.text];
    for (let at = this.at; at < to; at += 2) names.push(this.tokens[at + 1].text);
    const open = this.tokens[to];
    this.at = to + 1;
    const fields: StructExpr['fields'] = [];
    while (!this.is('}')) {
      const optional = this.accept('?') !== undefined;
      const { token } = this;
      if (token.kind !== 'ident') this.unexpected('IDENTIFIER');
      this.at++;
      const colon = this.expect(':');
      fields.push({ offset: colon.offset, name: token.text, value: this.expression(), optional });
      if (!this.accept(',')) break;
    }
    this.expect('}');
    return { kind: 'struct', name: (leadingDot ? '.' : '') + names.join('.'), fields, offset: open.offset };
  }

  private list(open: Token): Expr {
    const list: ListExpr = { kind: 'list', elements: [], optionals: new Set(), offset: open.offset };
    while (!this.is(']')) {
      if (this.accept('?')) list.optionals.add(list.elements.length);
      list.elements.push(this.expression());
      if (!this.accept(',')) break;
    }
    this.expect(']');
    return list;
  }

  private map(open: Token): Expr {
    const entries: MapEntry[] = [];
    while (!this.is('}')) {
      const optional = this.accept('?') !== undefined;
      const key = this.expression();
      const colon = this.expect(':');
      entries.push({ offset: colon.offset, key, value: this.expression(), optional });
      if (!this.accept(',')) break;
    }
    this.expect('}');
    return { kind: 'map', entries, offset: open.offset };
  }

  private call(operator: Token, name: string, args: Expr[]): CallExpr {
    return { kind: 'call', name, args, offset: operator.offset };
  }

  private macroOrCall(open: Token, name: string, args: Expr[], target?: Expr): Expr {
    try {
      const expanded = expandMacro(name, target, args, open.offset);
      if (expanded !== undefined) return expanded;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.fail(error.offset, error.message);
    }
    return { kind: 'call', name, target, args, offset: open.offset };
  }
}
