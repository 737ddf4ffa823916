import type { GroupVersionKind, Json, KubeObject } from '../../../../kube/object.ts';
import type { ExpressionNames } from './expression.ts';

const MAX_TYPES = 10;

export interface TypeCheckPorts {
  /** The kind a resource is served as; undefined when it is not served. */
  kindOf: (group: string, version: string, resource: string) => GroupVersionKind | undefined;
  /** What is wrong with an expression when `object` and `params` have the types of these kinds; undefined when nothing is. */
  check: (
    source: string,
    object: GroupVersionKind,
    params: GroupVersionKind | undefined,
    names: ExpressionNames,
    policy: KubeObject,
  ) => string | undefined;
}

export interface ExpressionWarning {
  fieldRef: string;
  warning: string;
}

/** `status.typeChecking.expressionWarnings` of a policy: advice, never a refusal. Wildcards are not checked. */
export function typeCheckPolicy(policy: KubeObject, ports: TypeCheckPorts): ExpressionWarning[] {
  const kinds = kindsToCheck(policy, ports.kindOf);
  if (kinds.length === 0) return [];
  const names: ExpressionNames = {
    params: policy.spec?.paramKind !== undefined,
    authorizer: true,
    variables: (policy.spec?.variables ?? []).map((variable: Json) => variable.name),
  };
  const warnings: ExpressionWarning[] = [];
  const inspect = (source: string | undefined, fieldRef: string) => {
    if (!source) return;
    const findings = kinds.flatMap((kind) => {
      const issue = ports.check(source, kind, paramKind(policy), names, policy);
      return issue === undefined ? [] : [`${kind.group}/${kind.version}, Kind=${kind.kind}: ${issue}\n`];
    });
    if (findings.length > 0) warnings.push({ fieldRef, warning: findings.join('\n') });
  };
  for (const [index, validation] of (policy.spec?.validations ?? []).entries()) {
    inspect(validation.expression, `spec.validations[${index}].expression`);
    inspect(validation.messageExpression, `spec.validations[${index}].messageExpression`);
  }
  return warnings;
}

function paramKind(policy: KubeObject): GroupVersionKind | undefined {
  const { apiVersion, kind } = policy.spec?.paramKind ?? {};
  if (typeof apiVersion !== 'string') return undefined;
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}

function kindsToCheck(policy: KubeObject, kindOf: TypeCheckPorts['kindOf']): GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>();
  for (const rule of policy.spec?.matchConstraints?.resourceRules ?? []) {
    const [groups, versions, resources] = [exact(rule.apiGroups), exact(rule.apiVersions), exact(rule.resources)];
    for (const group of groups) {
      for (const version of versions) {
        for (const resource of resources.filter((name) => !name.includes('/'))) {
          const kind = kindOf(group, version, resource);
          if (kind && found.size < MAX_TYPES) found.set(`${kind.group}/${kind.version}/${kind.kind}`, kind);
        }
      }
    }
  }
  return [...found.keys()].sort().map((key) => found.get(key)!);
}

/** Sorted; none at all when one of them is a wildcard. */
function exact(values: string[] = []): string[] {
  return values.some((value) => value.includes('*')) ? [] : [...values].sort();
}
