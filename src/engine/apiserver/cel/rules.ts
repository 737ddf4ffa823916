import type { Schema, ValidationRule } from '../../../kube/schema.ts';
import { resolveFieldPath } from '../schema/field-path.ts';
import type { Expr } from './ast.ts';
import { children } from './ast.ts';
import { compileCel, type CelProgram } from './cel.ts';
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
  /** The most that the rule, and its message, may cost. */
  maxCost: bigint;
  messageMaxCost: bigint;
  /** How often the rule can run in one request when nothing limits its surroundings. */
  maxCardinality: bigint;
  /** Where its findings belong, below its own place. */
  fieldPath: string;
}

export function compileRules(schema: Schema, declared: Declared): CompiledRule[] {
  return (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(schema, rule, declared));
}

export function compileRule(schema: Schema, rule: ValidationRule, declared: Declared): CompiledRule {
  const compiled: CompiledRule = { rule, usesOldSelf: false, maxCost: 0n, messageMaxCost: 0n, maxCardinality: 0n, fieldPath: '' };
  if (rule.rule.trim() === '') return compiled;
  const oldSelf = rule.optionalOldSelf ? optionalOf(declared.type) : declared.type;
  const variables = { self: declared.type, oldSelf };
  const result = compileCel(rule.rule, { variables });
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
  compiled.maxCost = estimateCost(result.program.ast, declaredSizes(declared)).max;
  compiled.maxCardinality = BigInt(Math.trunc(LARGEST_REQUEST / (declared.minSize + 1)));
  if (rule.messageExpression) {
    compileMessage(compiled, rule.messageExpression, variables, declared);
    if (compiled.messageError !== undefined) return compiled;
  }
  if (rule.fieldPath) {
    const resolved = resolveFieldPath(schema, rule.fieldPath);
    if (typeof resolved !== 'string') compiled.fieldPath = resolved.path;
  }
  return compiled;
}

function compileMessage(compiled: CompiledRule, expression: string, variables: Record<string, Declared['type']>, declared: Declared): void {
  const result = compileCel(expression, { variables });
  if (result.program === undefined) {
    compiled.messageError = `messageExpression ${result.instantiation ? 'instantiation' : 'compilation'} failed: ${result.errors}`;
  } else if (result.program.resultType.kind !== STRING.kind) {
    compiled.messageError = 'messageExpression must evaluate to a string';
  } else {
    compiled.message = result.program;
    compiled.messageMaxCost = estimateCost(result.program.ast, declaredSizes(declared)).max;
  }
}

/** True when a variable is read anywhere in an expression, outside folds that hide it. */
function mentions(expr: Expr, name: string): boolean {
  if (expr.kind === 'ident') return expr.name === name;
  return children(expr).some((child) => mentions(child, name));
}
