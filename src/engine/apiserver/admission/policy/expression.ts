import type { Json } from '../../../../kube/object.ts';
import type { Authorizer, UserInfo } from '../../auth/user.ts';

/** The names an admission expression can use. */
export interface ExpressionVariables {
  object: Json;
  oldObject: Json;
  /** The AdmissionRequest without the objects. */
  request: Json;
  params?: Json;
  /** The namespace of the request; null for cluster-scoped objects. */
  namespaceObject?: Json;
  /** For the authorizer library. */
  authorizer?: { user: UserInfo; authorizer: Authorizer };
  /** Properties are computed when first read. */
  variables?: Record<string, unknown>;
}

export interface ExpressionNames {
  params: boolean;
  authorizer: boolean;
  /** Undefined when the expression is not part of a policy. */
  variables?: readonly string[];
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
  /** Takes its cost off the budget. @throws OutOfBudgetError, or Error in the words of CEL (`no such key: x`). */
  evaluate(variables: ExpressionVariables, budget: CostBudget): unknown;
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
    const failed = new Error(`compilation error: ${(error as Error).message}`, { cause: error });
    return {
      evaluate() {
        throw failed;
      },
    };
  }
  return {
    evaluate(variables, budget) {
      try {
        return expression.evaluate(variables, budget);
      } catch (error) {
        if (error instanceof OutOfBudgetError) throw error;
        throw new Error(`expression '${source}' resulted in error: ${(error as Error).message}`, { cause: error });
      }
    },
  };
}
