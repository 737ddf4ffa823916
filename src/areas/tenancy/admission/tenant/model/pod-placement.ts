import { NODE_TENANT } from '../../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Json } from '../../../../../kube/object.ts';

/** Tolerates the taint of every tenant's nodes without naming one. */
export function toleratesAnyTenant({ tolerations = [] }: Json): boolean {
  return tolerations.some(
    ({ key, operator, effect }: Json) => operator === 'Exists' && (!key || key === NODE_TENANT) && (!effect || effect === 'NoSchedule'),
  );
}

/** The Pod spec, kept off the nodes of tenants, for those who tolerate every taint. @returns the same spec when it already is */
export function awayFromTenants(spec: Json): Json {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms: Json[] = required?.nodeSelectorTerms ?? [{}];
  const isAway = ({ matchExpressions = [] }: Json): boolean =>
    matchExpressions.some(({ key, operator }: Json) => key === NODE_TENANT && operator === 'DoesNotExist');
  if (terms.every(isAway)) return spec;
  const nodeSelectorTerms = terms.map((term) =>
    isAway(term) ? term : { ...term, matchExpressions: [...(term.matchExpressions ?? []), { key: NODE_TENANT, operator: 'DoesNotExist' }] },
  );
  const nodeAffinity = { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity } };
}

/** How the Pod spec of a tenant reaches for nodes that are not its own; undefined when it does not. It names no other tenant. */
export function foreignPlacement(spec: Json, tenant: string | undefined, isPinned: boolean): string | undefined {
  for (const { key, operator = 'Equal', value } of spec.tolerations ?? []) {
    if (key === NODE_TENANT && (operator !== 'Equal' || value !== tenant))
      return `it tolerates the taint "${NODE_TENANT}" of nodes that are not its own; leave the toleration out`;
  }
  if (tenant !== undefined && !isPinned && toleratesAnyTenant(spec))
    return 'it tolerates every taint, also those of nodes that are not its own; name the keys of the taints it needs to tolerate';
  const selected = spec.nodeSelector?.[NODE_TENANT];
  if (selected !== undefined && selected !== tenant) return `its nodeSelector names "${NODE_TENANT}" of others; leave it out`;
  for (const term of spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []) {
    for (const { key, operator, values = [] } of term.matchExpressions ?? []) {
      if (key !== NODE_TENANT || operator === 'NotIn' || operator === 'DoesNotExist') continue;
      if (operator !== 'In' || values.some((value: string) => value !== tenant))
        return `its nodeAffinity names "${NODE_TENANT}" of others; leave it out`;
    }
  }
  return undefined;
}

/** What of the machine a tenant's Pod asks for; undefined when nothing. */
export function machineAccess(spec: Json): string | undefined {
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) if (spec[field] === true) return `it asks for ${field}; leave it out`;
  const volume = (spec.volumes ?? []).find(({ hostPath }: Json) => hostPath !== undefined);
  if (volume) return `its volume "${volume.name}" is a hostPath; use a claim or an emptyDir`;
  return undefined;
}
