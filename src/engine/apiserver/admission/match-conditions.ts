import type { AdmissionRequest } from './admission.ts';
import { aggregateText } from './refusal.ts';
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
