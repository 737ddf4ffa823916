import type { StepCounter } from '../schema/regex-program.ts';
import { regExpComplaint } from '../schema/regular-expression.ts';
import { children, type Expr } from './ast.ts';
import { convertToDuration, convertToTimestamp } from './conversions.ts';
import { FORMAT_COMPLAINTS, FormatError, readFormat, type Clause } from './functions/format-text.ts';
import type { CelIssue } from './issues.ts';
import { isOptional, sameType, typeText, type CelType } from './types.ts';
import { Fault } from './values.ts';

/** Checks of a typed expression's literals, as Kubernetes configures them: what can only fail is refused before it runs. */
export function checkLiterals(expr: Expr, issues: CelIssue[], counter: StepCounter, insideFormat = false): void {
  if (expr.kind === 'call') checkCall(expr, issues, counter);
  const exempt = insideFormat || (expr.kind === 'call' && expr.name === 'format');
  if (!exempt && expr.kind === 'list') {
    checkSameTypes(
      expr.elements.map((element, at) => ({ expr: element, optional: expr.optionals.has(at) })),
      issues,
      1,
    );
  }
  if (!exempt && expr.kind === 'map') {
    checkSameTypes(
      expr.entries.map((entry) => ({ expr: entry.key, optional: false })),
      issues,
    );
    checkSameTypes(
      expr.entries.map((entry) => ({ expr: entry.value, optional: entry.optional })),
      issues,
    );
  }
  for (const child of children(expr)) checkLiterals(child, issues, counter, exempt);
}

function checkSameTypes(parts: { expr: Expr; optional: boolean }[], issues: CelIssue[], most = Infinity): void {
  let left = most;
  let first: CelType | undefined;
  for (const { expr, optional } of parts) {
    const whole = expr.type!;
    const type = optional && isOptional(whole) ? whole.params[0] : whole;
    first ??= type;
    if (sameType(first, type)) continue;
    issues.push({ offset: expr.offset, message: `expected type '${typeText(first)}' but found '${typeText(type)}'` });
    if (--left === 0) return;
  }
}

function checkCall(expr: Expr & { kind: 'call' }, issues: CelIssue[], counter: StepCounter): void {
  const refuse = (arg: Expr): number => issues.push({ offset: arg.offset, message: `invalid ${expr.name} argument` });
  if ((expr.name === 'duration' || expr.name === 'timestamp') && expr.args.length === 1 && expr.args[0].kind === 'literal') {
    const [arg] = expr.args;
    const converted = expr.name === 'duration' ? convertToDuration(arg.value) : convertToTimestamp(arg.value);
    if (converted instanceof Fault) refuse(arg);
  }
  if (expr.name === 'matches') {
    const pattern = expr.args[expr.args.length - 1];
    const isText = pattern.kind === 'literal' && typeof pattern.value === 'string';
    if (isText && regExpComplaint(pattern.value as string, counter) !== undefined) refuse(pattern);
  }
  if (expr.name === 'format') checkFormat(expr, issues);
}

const CLAUSE_KINDS: Record<Clause, readonly string[]> = {
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
};

/** A literal format with a literal list of arguments is checked clause by clause. */
function checkFormat(expr: Expr & { kind: 'call' }, issues: CelIssue[]): void {
  const { target } = expr;
  const list = expr.args[0];
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  let next = 0;
  try {
    readFormat(
      target.value,
      () => {},
      (clause) => {
        if (next >= list.elements.length) throw new FormatError(`index ${next} out of range`);
        const bad = misfit(list.elements[next++], clause);
        if (bad === undefined) return;
        const message = `error during formatting: ${FORMAT_COMPLAINTS[clause]} ${typeText(bad.type!)}`;
        issues.push({ offset: bad.offset, message });
        throw new FormatDone();
      },
    );
  } catch (error) {
    if (error instanceof FormatDone) return;
    if (!(error instanceof FormatError)) throw error;
    issues.push({ offset: expr.offset, message: error.message });
    return;
  }
  if (list.elements.length > next) {
    const message = `too many arguments supplied to string.format (expected ${next}, got ${list.elements.length})`;
    issues.push({ offset: expr.offset, message });
  }
}

/** The first clause that does not fit was reported. */
class FormatDone extends Error {}

/** The part of an argument that its clause cannot show. */
function misfit(arg: Expr, clause: Clause): Expr | undefined {
  const kind = arg.type?.kind ?? 'dyn';
  if (kind !== 'dyn' && !CLAUSE_KINDS[clause].includes(kind)) return arg;
  if (clause !== 's' || (arg.kind !== 'list' && arg.kind !== 'map')) return undefined;
  for (const part of children(arg)) {
    const bad = misfit(part, clause);
    if (bad !== undefined) return bad;
  }
  return undefined;
}
