import type { Expr } from './ast.ts';
import { checkTypes } from './checker.ts';
import { CostExceeded, Frame } from './frame.ts';
import { CelSource, issuesText, type CelIssue } from './issues.ts';
import { checkLiterals } from './literal-checks.ts';
import { parseCel } from './parser.ts';
import { plan, PlanError } from './plan.ts';
import type { StepCounter } from '../schema/regex-program.ts';
import { Pace, runToEnd, type Sliced } from '../schema/slices.ts';
import type { Step } from './step.ts';
import { typeText, type CelType } from './types.ts';
import { Fault, type CelValue } from './values.ts';

/** Cost units that one evaluation may spend (Kubernetes' PerCallLimit). */
export const PER_CALL_LIMIT = 1_000_000;
/** Cost units for all rules of one object, or all expressions of one policy binding (RuntimeCELCostBudget). */
export const OBJECT_BUDGET = 10_000_000;
/** Cost units for all match conditions of one webhook (RuntimeCELCostBudgetMatchConditions). */
export const MATCH_CONDITIONS_BUDGET = 2_500_000;

/** For the regular expressions of one expression, when nobody else counts. */
const MOST_STEPS = 2_000_000;

export interface CelEnvironment {
  /** The variables an expression may use, with their types; `dyn` where nothing is known. */
  variables: Readonly<Record<string, CelType>>;
  /** What the expression must evaluate to, if that matters. Dynamic results are refused too, as Kubernetes does. */
  resultType?: CelType;
  /** Is told what it takes to compile regular expressions. */
  counter?: StepCounter;
}

/** What an evaluation came to, and what it cost. */
export interface CelOutcome {
  value?: CelValue;
  /** In the words of cel-go: `no such key: x`, `division by zero`, ... */
  error?: string;
  cost: number;
  /** The limit of the evaluation was reached: `error` says so. */
  costExceeded?: boolean;
}

/** An expression that is fit to be evaluated, again and again. */
export class CelProgram {
  readonly expression: string;
  readonly ast: Expr;
  private readonly step: Step;

  constructor(expression: string, ast: Expr, step: Step) {
    this.expression = expression;
    this.ast = ast;
    this.step = step;
  }

  get resultType(): CelType {
    return this.ast.type!;
  }

  evaluate(bindings: ReadonlyMap<string, CelValue>, limit: number = PER_CALL_LIMIT): CelOutcome {
    const frame = new Frame(bindings, limit);
    try {
      return outcome(this.step.run(frame), frame);
    } catch (error) {
      return stopped(error, frame);
    }
  }

  /** The same, pausing now and then inside long folds. */
  *evaluateSliced(bindings: ReadonlyMap<string, CelValue>, limit: number = PER_CALL_LIMIT): Generator<void, CelOutcome, void> {
    const frame = new Frame(bindings, limit);
    try {
      return outcome(this.step.sliced === undefined ? this.step.run(frame) : yield* this.step.sliced(frame), frame);
    } catch (error) {
      return stopped(error, frame);
    }
  }
}

function outcome(value: CelValue, frame: Frame): CelOutcome {
  return value instanceof Fault ? { error: value.message, cost: frame.cost } : { value, cost: frame.cost };
}

function stopped(error: unknown, frame: Frame): CelOutcome {
  if (error instanceof CostExceeded) return { error: error.message, cost: frame.cost, costExceeded: true };
  throw error;
}

export type CelCompilation =
  | { program: CelProgram; errors?: undefined }
  /** `errors` as cel-go prints issues; `instantiation` tells that the expression is sound but can only fail. */
  | { program?: undefined; errors: string; instantiation?: boolean };

/** Parses, checks and prepares an expression. Nothing of it runs. */
export function compileCel(expression: string, environment: CelEnvironment): CelCompilation {
  return runToEnd(compileCelSteps(expression, environment));
}

/** The same, with pauses between its steps. */
export function* compileCelSteps(expression: string, environment: CelEnvironment): Sliced<CelCompilation> {
  const source = new CelSource(expression);
  const issues: CelIssue[] = [];
  const ast = yield* parseCel(source, issues);
  if (ast === undefined) return { errors: issuesText(source, issues) };
  yield;
  checkTypes(ast, environment.variables, issues);
  yield;
  if (issues.length === 0) checkLiterals(ast, issues, environment.counter ?? new Pace(MOST_STEPS));
  if (issues.length > 0) return { errors: issuesText(source, issues) };
  const { resultType } = environment;
  if (resultType !== undefined && ast.type?.kind !== resultType.kind) {
    return { errors: `must evaluate to ${typeText(resultType)}` };
  }
  yield;
  try {
    return { program: new CelProgram(expression, ast, plan(ast)) };
  } catch (error) {
    if (error instanceof PlanError) return { errors: error.message, instantiation: true };
    throw error;
  }
}
