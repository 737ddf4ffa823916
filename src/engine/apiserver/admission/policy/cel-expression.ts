import { compileCel, PER_CALL_LIMIT, type CelOutcome } from '../../cel/cel.ts';
import { authorizerValue, requestResourceValue, type AuthorizationQuestion, type AuthorizerPort } from '../../cel/functions/authorizer.ts';
import { fromJson } from '../../cel/json-values.ts';
import { AUTHORIZER, DYN, RESOURCE_CHECK, typeText, type CelType } from '../../cel/types.ts';
import { CelMap, Fault, type CelValue } from '../../cel/values.ts';
import { ADMISSION_REQUEST, NAMESPACE, variablesType } from './cel-types.ts';
import { OutOfBudgetError, type CompileExpression, type CostBudget, type ExpressionNames, type ExpressionVariables } from './expression.ts';

/** Admission expressions in CEL. */
export const compileCelExpression: CompileExpression = (source, names) => {
  const compiled = compileCel(source, { variables: declarations(names) });
  if (!compiled.program) throw new Error(`${compiled.instantiation ? 'program instantiation' : 'compilation'} failed: ${compiled.errors}`);
  const { program } = compiled;
  checkResult(program.resultType, names.result);
  return {
    type: program.resultType,
    evaluate: (variables, budget) => charged(program.evaluate(bindings(variables), PER_CALL_LIMIT), budget),
    *sliced(variables, budget) {
      return charged(yield* program.evaluateSliced(bindings(variables), PER_CALL_LIMIT), budget);
    },
  };
};

function declarations(names: ExpressionNames): Record<string, CelType> {
  return {
    object: names.objectType ?? DYN,
    oldObject: names.objectType ?? DYN,
    request: ADMISSION_REQUEST,
    namespaceObject: NAMESPACE,
    ...(names.params && { params: names.paramsType ?? DYN }),
    ...(names.authorizer && { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK }),
    ...(names.variables && { variables: variablesType(names.variables) }),
  };
}

function checkResult(actual: CelType, expected: ExpressionNames['result']): void {
  if (expected === undefined) return;
  if (expected === 'string or null') {
    if (actual.kind === 'string' || actual.kind === 'null') return;
    throw new Error(`must evaluate to one of [string null_type] but got ${typeText(actual)}`);
  }
  if (actual.kind !== expected) throw new Error(`must evaluate to ${expected} but got ${typeText(actual)}`);
}

/** What the evaluation came to, paid for. Variables take what they cost themselves. */
function charged(outcome: CelOutcome, budget: CostBudget): CelValue {
  budget.remaining -= outcome.cost;
  if (budget.remaining < 0) throw new OutOfBudgetError();
  if (outcome.error !== undefined) throw new Error(outcome.error);
  return outcome.value!;
}

function bindings(variables: ExpressionVariables): Map<string, CelValue> {
  const { object, oldObject, request, params, namespaceObject, authorizer } = variables;
  const bound = new Map<string, CelValue>([
    ['object', fromJson(object)],
    ['oldObject', fromJson(oldObject)],
    ['request', fromJson(request)],
    ['params', fromJson(params ?? null)],
    ['namespaceObject', fromJson(namespaceObject ?? null)],
  ]);
  if (variables.variables) bound.set('variables', new LazyVariables(variables.variables));
  if (authorizer) {
    const ask = authorizerPort(authorizer);
    bound.set('authorizer', authorizerValue(ask));
    bound.set('authorizer.requestResource', requestResourceValue(ask, requestedResource(request)));
  }
  return bound;
}

/** Names are checked when the expression is compiled, so that only those that exist are asked for. */
class LazyVariables extends CelMap {
  readonly #compute: (name: string) => unknown;

  constructor(compute: (name: string) => unknown) {
    super();
    this.#compute = compute;
  }

  get size(): number {
    return 0;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    try {
      return this.#compute(key) as CelValue | undefined;
    } catch (error) {
      return new Fault((error as Error).message);
    }
  }

  keys(): CelValue[] {
    return [];
  }
}

function requestedResource(request: ExpressionVariables['request']): Omit<AuthorizationQuestion, 'verb'> {
  const { resource, subResource, namespace, name } = request;
  return { group: resource.group, resource: resource.resource, subresource: subResource, namespace, name };
}

function authorizerPort({ user, authorizer }: NonNullable<ExpressionVariables['authorizer']>): AuthorizerPort {
  return ({ serviceAccount, verb, path, group, resource, subresource, namespace, name }) => {
    const subject = serviceAccount ? serviceAccountUser(serviceAccount) : user;
    return authorizer.authorize(
      path === undefined
        ? { user: subject, verb, group, version: '*', resource, subresource, namespace, name }
        : { user: subject, verb, path },
    );
  };
}

function serviceAccountUser({ namespace, name }: { namespace: string; name: string }) {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
