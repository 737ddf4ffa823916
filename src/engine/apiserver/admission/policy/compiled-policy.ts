import { labelSelectorMatcher, type LabelMatcher } from '../../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { DYN, type CelType } from '../../cel/types.ts';
import type { Rule } from '../webhook/rules.ts';
import { storedExpression, type CompileExpression, type Expression, type ExpressionNames } from './expression.ts';

/** Which requests a policy or a binding is about. */
export interface MatchResources {
  namespaceSelector: () => LabelMatcher;
  objectSelector: () => LabelMatcher;
  /** Empty: all resources. */
  rules: NamedRule[];
  excluded: NamedRule[];
  matchesEquivalents: boolean;
}

export interface NamedRule extends Rule {
  resourceNames?: string[];
}

export interface CompiledPolicy {
  name: string;
  match: MatchResources;
  failsOpen: boolean;
  paramKind?: { apiVersion: string; kind: string };
  conditions: { name: string; expression: Expression }[];
  variables: { name: string; expression: Expression }[];
  validations: CompiledValidation[];
  auditAnnotations: { key: string; source: string; expression: Expression }[];
}

export interface CompiledValidation {
  source: string;
  expression: Expression;
  message: string;
  messageExpression?: Expression;
  reason?: string;
}

export interface CompiledBinding {
  name: string;
  policyName: string;
  /** Undefined: everything the policy is about. */
  match?: MatchResources;
  paramRef?: ParamRef;
  actions: string[];
}

export interface ParamRef {
  name?: string;
  namespace?: string;
  selector?: Json;
  parameterNotFoundAction?: string;
}

export function compilePolicy(policy: KubeObject, compile: CompileExpression): CompiledPolicy {
  const spec: Json = policy.spec ?? {};
  const params = spec.paramKind !== undefined;
  const expressionOf = (source: string, names: Omit<ExpressionNames, 'params'>) => storedExpression(source, { params, ...names }, compile);
  const variables = compileVariables(spec.variables ?? [], expressionOf);
  const known = new Map(variables.map(({ name, expression }) => [name, expression.type ?? DYN]));
  return {
    name: policy.metadata.name!,
    match: matchResources(spec.matchConstraints),
    failsOpen: spec.failurePolicy === 'Ignore',
    paramKind: spec.paramKind,
    conditions: (spec.matchConditions ?? []).map((condition: Json) => ({
      name: condition.name,
      expression: expressionOf(condition.expression, { authorizer: true, result: 'bool' }),
    })),
    variables,
    validations: (spec.validations ?? []).map((validation: Json) => ({
      source: validation.expression,
      expression: expressionOf(validation.expression, { authorizer: true, variables: known, result: 'bool' }),
      message: validation.message ?? '',
      messageExpression:
        validation.messageExpression &&
        expressionOf(validation.messageExpression, { authorizer: false, variables: known, result: 'string' }),
      reason: validation.reason,
    })),
    auditAnnotations: (spec.auditAnnotations ?? []).map((annotation: Json) => ({
      key: annotation.key,
      source: annotation.valueExpression,
      expression: expressionOf(annotation.valueExpression, { authorizer: false, variables: known, result: 'string or null' }),
    })),
  };
}

/** A variable sees those before it. */
export function compileVariables(
  variables: Json[],
  expressionOf: (source: string, names: Omit<ExpressionNames, 'params'>) => Expression,
): { name: string; expression: Expression }[] {
  const known = new Map<string, CelType>();
  return variables.map(({ name, expression: source }) => {
    const expression = expressionOf(source, { authorizer: true, variables: new Map(known) });
    known.set(name, expression.type ?? DYN);
    return { name, expression };
  });
}

export function compileBinding(binding: KubeObject): CompiledBinding {
  const spec: Json = binding.spec ?? {};
  return {
    name: binding.metadata.name!,
    policyName: spec.policyName,
    match: spec.matchResources && matchResources(spec.matchResources),
    paramRef: spec.paramRef,
    actions: spec.validationActions ?? [],
  };
}

function matchResources(match: Json = {}): MatchResources {
  return {
    namespaceSelector: () => labelSelectorMatcher(match.namespaceSelector ?? {}),
    objectSelector: () => labelSelectorMatcher(match.objectSelector ?? {}),
    rules: match.resourceRules ?? [],
    excluded: match.excludeResourceRules ?? [],
    matchesEquivalents: (match.matchPolicy ?? 'Equivalent') === 'Equivalent',
  };
}
