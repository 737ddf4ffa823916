import type { Json } from '../../../../kube/object.ts';
import type { Authorizer, UserInfo } from '../../auth/user.ts';
import type { CelType } from '../../cel/types.ts';

/** The names an admission expression can use. */
export interface ExpressionVariables {
  object: Json;
  oldObject: Json;
  /** The AdmissionRequest without the objects. */
  request: Json;
  params?: Json;
  /** The namespace of the request; null for cluster-scoped objects. */
  namespaceObject?: Json;
  /** Who asks for what, for the authorizer library. */
  authorizer?: { user: UserInfo; authorizer: Authorizer };
  /** Computes the value of a policy's variable. @throws what that failed with. */
  variables?: (name: string) => unknown;
}

export interface ExpressionNames {
  params: boolean;
  authorizer: boolean;
  /** Names and types of the policy's variables; undefined when the expression is not part of a policy. */
  variables?: ReadonlyMap<string, CelType>;
  /** What it must come to; anything when undefined. */
  result?: 'bool' | 'string' | 'string or null';
  /** Types of `object` and `params`, when they are known; for type checking only. */
  objectType?: CelType;
  paramsType?: CelType;
}

/** What evaluations may still cost. */
export interface CostBudget {
  remaining: number;
}

export class OutOfBudgetError extends Error {
  override readonly name = 'OutOfBudgetError';
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

export interface Expression {
  /** Of what it comes to; undefined when it does not compile. */
  readonly type?: CelType;
  /** Takes its cost off the budget. @throws OutOfBudgetError, or Error in the words of CEL (`no such key: x`). */
  evaluate(variables: ExpressionVariables, budget: CostBudget): unknown;
  /** The same, pausing now and then when it takes long. */
  sliced(variables: ExpressionVariables, budget: CostBudget): Slices<unknown>;
}

/** Work that can be interrupted where it yields. */
export type Slices<T> = Generator<void, T, void>;

/** An expression that does not compile. */
export class CompilationError extends Error {
  override readonly name = 'CompilationError';
}

/** @throws Error with what is wrong with the source. */
export type CompileExpression = (source: string, names: ExpressionNames) => Expression;

export const POLICY_BUDGET = 10_000_000;
export const CONDITION_BUDGET = 2_500_000;

/** An expression as part of a configuration: what does not compile fails each evaluation, in the words of Kubernetes. */
export function storedExpression(source: string, names: ExpressionNames, compile: CompileExpression): Expression {
  let expression: Expression;
  try {
    expression = compile(source, names);
  } catch (error) {
    return failing(new CompilationError(`compilation error: ${(error as Error).message}`, { cause: error }));
  }
  const told = (error: unknown): Error => {
    if (error instanceof OutOfBudgetError) return error;
    return new Error(`expression '${source}' resulted in error: ${(error as Error).message}`, { cause: error });
  };
  return {
    type: expression.type,
    evaluate(variables, budget) {
      try {
        return expression.evaluate(variables, budget);
      } catch (error) {
        throw told(error);
      }
    },
    *sliced(variables, budget) {
      try {
        return yield* expression.sliced(variables, budget);
      } catch (error) {
        throw told(error);
      }
    },
  };
}

function failing(error: Error): Expression {
  const fail = (): never => {
    throw error;
  };
  return {
    evaluate: fail,
    // oxlint-disable-next-line require-yield
    *sliced() {
      return fail();
    },
  };
}
