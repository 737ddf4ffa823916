import { parseApiVersion, type GroupVersionKind, type Json, type KubeObject } from '../../../../kube/object.ts';
import type { CelType } from '../../cel/types.ts';
import { DYN } from '../../cel/types.ts';
import { compileVariables } from './compiled-policy.ts';
import { storedExpression, type CompileExpression, type ExpressionNames } from './expression.ts';

const MAX_TYPES = 10;

export interface TypeCheckPorts {
  compile: CompileExpression;
  /** The kind a resource is served as; undefined when it is not served. */
  kindOf: (group: string, version: string, resource: string) => GroupVersionKind | undefined;
  /** The type of the objects of a kind; undefined when nothing is known about it. */
  typeOf: (kind: GroupVersionKind) => CelType | undefined;
}

export interface ExpressionWarning {
  fieldRef: string;
  warning: string;
}

/** `status.typeChecking.expressionWarnings` of a policy: advice, never a refusal. What rules name by a wildcard is not checked. */
export function typeCheckPolicy(policy: KubeObject, ports: TypeCheckPorts): ExpressionWarning[] {
  const kinds = kindsToCheck(policy, ports.kindOf).flatMap((kind) => {
    const objectType = ports.typeOf(kind);
    return objectType ? [{ kind, names: namesFor(policy, objectType, ports) }] : [];
  });
  const warnings: ExpressionWarning[] = [];
  const inspect = (source: string | undefined, fieldRef: string) => {
    if (!source) return;
    const findings = kinds.flatMap(({ kind, names }) => {
      const issue = issueOf(source, names, ports.compile);
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

function issueOf(source: string, names: ExpressionNames, compile: CompileExpression): string | undefined {
  try {
    compile(source, names);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function namesFor(policy: KubeObject, objectType: CelType, { compile, typeOf }: TypeCheckPorts): ExpressionNames {
  const { paramKind, variables = [] } = policy.spec ?? {};
  const paramsType = paramKind && typeOf({ ...parseApiVersion(paramKind.apiVersion ?? ''), kind: paramKind.kind });
  const base: ExpressionNames = { params: paramsType !== undefined, authorizer: true, objectType, paramsType };
  const compiled = compileVariables(variables, (source, names) => storedExpression(source, { ...base, ...names }, compile));
  return { ...base, variables: new Map(compiled.map(({ name, expression }) => [name, expression.type ?? DYN])) };
}

function kindsToCheck(policy: KubeObject, kindOf: TypeCheckPorts['kindOf']): GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>();
  for (const rule of policy.spec?.matchConstraints?.resourceRules ?? []) {
    for (const { group, version, resource } of namedResources(rule)) {
      const kind = kindOf(group, version, resource);
      if (kind && found.size < MAX_TYPES) found.set(`${kind.group}/${kind.version}/${kind.kind}`, kind);
    }
  }
  return [...found.keys()].sort().map((key) => found.get(key)!);
}

function namedResources(rule: Json): { group: string; version: string; resource: string }[] {
  const resources = exact(rule.resources).filter((name) => !name.includes('/'));
  return exact(rule.apiGroups).flatMap((group) =>
    exact(rule.apiVersions).flatMap((version) => resources.map((resource) => ({ group, version, resource }))),
  );
}

/** Sorted; none at all when one of them is a wildcard. */
function exact(values: string[] = []): string[] {
  return values.some((value) => value.includes('*')) ? [] : [...values].sort();
}
