import type { Schema, ValidationRule } from '../../../kube/schema.ts';
import { resolveFieldPath } from '../schema/field-path.ts';
import type { Expr } from './ast.ts';
import { children } from './ast.ts';
import type { StepCounter } from '../schema/regex-program.ts';
import type { Sliced } from '../schema/slices.ts';
import { compileCelSteps, type CelEnvironment, type CelProgram } from './cel.ts';
import { estimateCost } from './cost-estimate.ts';
import { declaredSizes, LARGEST_REQUEST, type Declared } from './schema-types.ts';
import { BOOL, optionalOf, STRING } from './types.ts';

/** A rule of x-kubernetes-validations, ready to be evaluated, or what is wrong with it. */
export interface CompiledRule {
  rule: ValidationRule;
  program?: CelProgram;
  /** Complaint about the rule. */
  error?: string;
  usesOldSelf: boolean;
  message?: CelProgram;
  messageError?: string;
  /** Where its findings belong, below its own place. */
  fieldPath: string;
}

/** Compiling one character of an expression takes as long as so many steps of other checks. */
const STEPS_PER_CHARACTER = 4;

/** @param counter is told what it takes */
export function* compileRule(schema: Schema, rule: ValidationRule, declared: Declared, counter: StepCounter): Sliced<CompiledRule> {
  const compiled: CompiledRule = { rule, usesOldSelf: false, fieldPath: '' };
  counter.tick((rule.rule.length + (rule.messageExpression ?? '').length) * STEPS_PER_CHARACTER);
  if (rule.rule.trim() === '') return compiled;
  const oldSelf = rule.optionalOldSelf ? optionalOf(declared.type) : declared.type;
  const variables = { self: declared.type, oldSelf };
  const result = yield* compileCelSteps(rule.rule, { variables, counter });
  if (result.program === undefined) {
    compiled.error = `${result.instantiation ? 'program instantiation' : 'compilation'} failed: ${result.errors}`;
    return compiled;
  }
  if (result.program.resultType.kind !== BOOL.kind) {
    compiled.error = 'cel expression must evaluate to a bool';
    return compiled;
  }
  compiled.usesOldSelf = mentions(result.program.ast, 'oldSelf');
  compiled.program = result.program;
  if (rule.messageExpression) {
    yield* compileMessage(compiled, rule.messageExpression, { variables, counter });
    if (compiled.messageError !== undefined) return compiled;
  }
  if (rule.fieldPath) {
    const resolved = resolveFieldPath(schema, rule.fieldPath);
    if (typeof resolved !== 'string') compiled.fieldPath = resolved.path;
  }
  return compiled;
}

function* compileMessage(compiled: CompiledRule, expression: string, environment: CelEnvironment): Sliced<void> {
  const result = yield* compileCelSteps(expression, environment);
  if (result.program === undefined) {
    compiled.messageError = `messageExpression ${result.instantiation ? 'instantiation' : 'compilation'} failed: ${result.errors}`;
  } else if (result.program.resultType.kind !== STRING.kind) {
    compiled.messageError = 'messageExpression must evaluate to a string';
  } else {
    compiled.message = result.program;
  }
}

/** The most that a rule, and its message, may cost; and how often it can run in one request when nothing limits its surroundings. */
export function estimateRule(compiled: CompiledRule, declared: Declared): { rule: bigint; message: bigint; cardinality: bigint } {
  const estimate = (program: CelProgram | undefined): bigint =>
    program === undefined ? 0n : estimateCost(program.ast, declaredSizes(declared)).max;
  const cardinality = compiled.program === undefined ? 0n : BigInt(Math.trunc(LARGEST_REQUEST / (declared.minSize + 1)));
  return { rule: estimate(compiled.program), message: estimate(compiled.message), cardinality };
}

/** True when a variable is read anywhere in an expression, outside folds that hide it. */
function mentions(expr: Expr, name: string): boolean {
  if (expr.kind === 'ident') return expr.name === name;
  return children(expr).some((child) => mentions(child, name));
}
