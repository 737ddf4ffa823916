import type { Authorizer } from '../auth/user.ts';
import type { AdmissionRequest } from './admission.ts';
import { CONDITION_BUDGET, storedExpression, type CompileExpression } from './policy/expression.ts';
import { requestVariables } from './policy/request-variables.ts';
import { aggregateText } from './refusal.ts';
import type { CompileConditions } from './webhook/compiled-webhook.ts';
import type { Invocation } from './webhook/review.ts';

export interface MatchCondition {
  name: string;
  expression: string;
}

/** Whether all conditions hold; throws with the evaluation errors when that cannot be said and the failure policy is Fail. */
export type ConditionMatcher = (request: AdmissionRequest, invocation: Invocation) => boolean;

/** A compiled expression over the variables of an admission request. Throws what evaluation or compilation failed with. */
export type ConditionExpression = (request: AdmissionRequest, invocation: Invocation) => unknown;

/**
 * One false condition decides, whatever the others are. Otherwise errors decide by the failure policy: with Ignore
 * the conditions count as not met, with Fail the request is refused.
 */
export function conditionMatcher(
  conditions: MatchCondition[],
  failsOpen: boolean,
  compile: (expression: string) => ConditionExpression,
): ConditionMatcher {
  const expressions = conditions.map(({ expression }) => compiledOrFailing(expression, compile));
  return (request, invocation) => {
    const errors: string[] = [];
    for (const expression of expressions) {
      try {
        if (expression(request, invocation) === false) return false;
      } catch (error) {
        errors.push((error as Error).message);
      }
    }
    if (errors.length === 0) return true;
    if (failsOpen) return false;
    throw new Error(aggregateText(errors));
  };
}

/** An expression that does not compile fails each evaluation instead of the whole configuration. */
function compiledOrFailing(expression: string, compile: (expression: string) => ConditionExpression): ConditionExpression {
  try {
    return compile(expression);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** matchConditions of webhooks in CEL: they see the request, its objects and the authorizer. */
export function celConditions(compile: CompileExpression, authorizer: Authorizer): CompileConditions {
  return (conditions, failsOpen) => {
    const names = { params: false, authorizer: true, result: 'bool' as const };
    const expressions = new Map(conditions.map(({ expression }) => [expression, storedExpression(expression, names, compile)]));
    return (request, invocation) => {
      const budget = { remaining: CONDITION_BUDGET };
      const variables = { ...requestVariables(request, invocation), authorizer: { user: request.user, authorizer } };
      const evaluate = (source: string) => () => expressions.get(source)!.evaluate(variables, budget);
      return conditionMatcher(conditions, failsOpen, evaluate)(request, invocation);
    };
  };
}
