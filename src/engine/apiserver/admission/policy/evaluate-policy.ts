import { aggregateText } from '../refusal.ts';
import type { CompiledPolicy, CompiledValidation } from './compiled-policy.ts';
import { CompilationError, CONDITION_BUDGET, POLICY_BUDGET, type CostBudget, type ExpressionVariables, type Slices } from './expression.ts';

/** What one validation, or the policy as a whole, says against a request. */
export interface Denial {
  message: string;
  reason?: string;
  /** Position of the validation. */
  index: number;
}

export interface Verdict {
  denials: Denial[];
  annotations: { key: string; value: string }[];
  /** Annotations that could not be computed; they deny whatever the binding's actions are. */
  annotationErrors: string[];
}

const NOTHING: Verdict = { denials: [], annotations: [], annotationErrors: [] };
const MAX_MESSAGE_BYTES = 5 * 1024;

/** The whole policy for one request and one set of parameters. Errors count by the failure policy: as denial, or as nothing. */
export function* evaluatePolicy(policy: CompiledPolicy, given: ExpressionVariables): Slices<Verdict> {
  const denial = (error: unknown, index = 0): Denial[] => (policy.failsOpen ? [] : [{ message: (error as Error).message, index }]);
  try {
    if (!(yield* conditionsHold(policy, given))) return NOTHING;
  } catch (error) {
    return { ...NOTHING, denials: denial(error) };
  }
  const budget: CostBudget = { remaining: POLICY_BUDGET };
  const variables = withVariables(policy, given, budget);
  const denials: Denial[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    try {
      if ((yield* validation.expression.sliced(variables, budget)) === true) continue;
      denials.push({ message: yield* messageOf(validation, variables, budget), reason: validation.reason, index });
    } catch (error) {
      // Without budget nothing that follows can be judged, and what was found so far is not the whole truth.
      if (budget.remaining < 0) return { ...NOTHING, denials: denial(error) };
      denials.push(...denial(error, index));
    }
  }
  return { denials, ...(yield* annotate(policy, given)) };
}

function* conditionsHold(policy: CompiledPolicy, given: ExpressionVariables): Slices<boolean> {
  const budget: CostBudget = { remaining: CONDITION_BUDGET };
  const errors: string[] = [];
  for (const { expression } of policy.conditions) {
    try {
      if ((yield* expression.sliced(given, budget)) === false) return false;
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  if (errors.length > 0) throw new Error(aggregateText(errors));
  return true;
}

/** Each variable is computed when it is first read, and once. */
function withVariables(policy: CompiledPolicy, given: ExpressionVariables, budget: CostBudget): ExpressionVariables {
  const outcomes = new Map<string, { value: unknown } | { error: Error }>();
  const all: ExpressionVariables = {
    ...given,
    variables(name) {
      let outcome = outcomes.get(name);
      if (!outcome) outcomes.set(name, (outcome = computed(name)));
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
  };
  const computed = (name: string): { value: unknown } | { error: Error } => {
    try {
      return { value: policy.variables.find((variable) => variable.name === name)?.expression.evaluate(all, budget) };
    } catch (error) {
      const verb = error instanceof CompilationError ? 'compile' : 'evaluate';
      const why = ((error as Error).cause as Error | undefined) ?? (error as Error);
      return { error: new Error(`composited variable "${name}" fails to ${verb}: ${why.message}`) };
    }
  };
  return all;
}

/** The expression's text if it is a usable line, else the fixed message, else the validation itself. */
function* messageOf(validation: CompiledValidation, variables: ExpressionVariables, budget: CostBudget): Slices<string> {
  const { authorizer: _authorizer, ...visible } = variables;
  let message = '';
  if (validation.messageExpression) {
    try {
      const value = yield* validation.messageExpression.sliced(visible, budget);
      if (typeof value === 'string') message = value.trim();
    } catch (error) {
      if (budget.remaining < 0) throw new Error(`failed messageExpression: ${(error as Error).message}`, { cause: error });
    }
  }
  if (message.includes('\n') || Buffer.byteLength(message) > MAX_MESSAGE_BYTES) message = '';
  return message || validation.message.trim() || `failed expression: ${validation.source.trim()}`;
}

function* annotate(policy: CompiledPolicy, given: ExpressionVariables): Slices<Pick<Verdict, 'annotations' | 'annotationErrors'>> {
  const annotations: Verdict['annotations'] = [];
  const annotationErrors: string[] = [];
  if (policy.auditAnnotations.length === 0) return { annotations, annotationErrors };
  const { authorizer: _authorizer, ...visible } = given;
  const budget: CostBudget = { remaining: POLICY_BUDGET };
  const variables = withVariables(policy, visible, budget);
  for (const { key, source, expression } of policy.auditAnnotations) {
    try {
      const value = yield* expression.sliced(variables, budget);
      if (typeof value === 'string') {
        if (value.trim() !== '') annotations.push({ key, value: value.trim() });
      } else if (value !== null) {
        annotationErrors.push(
          `valueExpression '${source}' resulted in unsupported return type: ${typeof value}. Return type must be either string or null.`,
        );
      }
    } catch (error) {
      if (!policy.failsOpen) annotationErrors.push((error as Error).message);
    }
  }
  return { annotations, annotationErrors };
}
