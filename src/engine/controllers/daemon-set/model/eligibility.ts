import type { Json, KubeObject } from '../../../../kube/object.ts';

/** Conditions of nodes that daemons live through. */
const TOLERATED: readonly [key: string, effect: string][] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
];

/** The template's tolerations and those that every daemon has. */
export function daemonTolerations(spec: Json): Json[] {
  const tolerations: Json[] = [...(spec.tolerations ?? [])];
  const added = spec.hostNetwork ? [...TOLERATED, ['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const] : TOLERATED;
  for (const [key, effect] of added) {
    const same = tolerations.findIndex(
      (one) => one.key === key && one.effect === effect && (one.operator ?? 'Equal') === 'Exists' && !one.value,
    );
    const toleration = { key, operator: 'Exists', effect };
    if (same < 0) tolerations.push(toleration);
    else tolerations[same] = toleration;
  }
  return tolerations;
}

export interface Eligibility {
  shouldRun: boolean;
  /** What is there already may stay. */
  mayStay: boolean;
}

export function eligibility(set: KubeObject, node: KubeObject): Eligibility {
  const { spec } = set.spec.template;
  const { name } = node.metadata;
  if (spec.nodeName && spec.nodeName !== name) return { shouldRun: false, mayStay: false };
  if (!matchesAffinity(spec, node)) return { shouldRun: false, mayStay: false };
  const tolerations = daemonTolerations(spec);
  const untolerated: Json[] = (node.spec?.taints ?? []).filter((taint: Json) => !tolerations.some((one) => tolerates(one, taint)));
  const evicted = untolerated.some(({ effect }) => effect === 'NoExecute');
  return { shouldRun: !evicted && !untolerated.some(({ effect }) => effect === 'NoSchedule'), mayStay: !evicted };
}

export function tolerates(toleration: Json, taint: Json): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const operator = toleration.operator || 'Equal';
  if (operator === 'Exists') return true;
  return operator === 'Equal' && Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
}

function matchesAffinity(spec: Json, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || (required.nodeSelectorTerms ?? []).some((term: Json) => matchesTerm(term, node));
}

/** An empty term matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: Json, node: KubeObject): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Record<string, string> = { 'metadata.name': node.metadata.name! };
  return (
    matchExpressions.every((one: Json) => matchesRequirement(one, node.metadata.labels ?? {})) &&
    matchFields.every((one: Json) => matchesRequirement(one, fields))
  );
}

function matchesRequirement({ key, operator, values = [] }: Json, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isInteger(value) && Number(value) > Number(values[0]);
    case 'Lt':
      return isInteger(value) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function isInteger(value: string | undefined): value is string {
  return value !== undefined && /^[+-]?\d+$/.test(value);
}
