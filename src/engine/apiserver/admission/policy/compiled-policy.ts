import { labelSelectorMatcher, type LabelMatcher } from '../../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Rule } from '../webhook/rules.ts';
import { storedExpression, type CompileExpression, type Expression } from './expression.ts';

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
  const expressionOf = (source: string, names: { authorizer: boolean; variables?: string[] }) =>
    storedExpression(source, { params, ...names }, compile);
  const variables: Json[] = spec.variables ?? [];
  const known = variables.map((variable) => variable.name);
  return {
    name: policy.metadata.name!,
    match: matchResources(spec.matchConstraints),
    failsOpen: spec.failurePolicy === 'Ignore',
    paramKind: spec.paramKind,
    conditions: (spec.matchConditions ?? []).map((condition: Json) => ({
      name: condition.name,
      expression: expressionOf(condition.expression, { authorizer: true }),
    })),
    // A variable sees those before it.
    variables: variables.map(({ name, expression }, index) => ({
      name,
      expression: expressionOf(expression, { authorizer: true, variables: known.slice(0, index) }),
    })),
    validations: (spec.validations ?? []).map((validation: Json) => ({
      source: validation.expression,
      expression: expressionOf(validation.expression, { authorizer: true, variables: known }),
      message: validation.message ?? '',
      messageExpression:
        validation.messageExpression && expressionOf(validation.messageExpression, { authorizer: false, variables: known }),
      reason: validation.reason,
    })),
    auditAnnotations: (spec.auditAnnotations ?? []).map((annotation: Json) => ({
      key: annotation.key,
      source: annotation.valueExpression,
      expression: expressionOf(annotation.valueExpression, { authorizer: false, variables: known }),
    })),
  };
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
