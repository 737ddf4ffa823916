import { NODE_TENANT } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Json } from '../../../../kube/object.ts';

export function tenantTaint(tenant: string) {
  return { key: NODE_TENANT, value: tenant, effect: 'NoSchedule' } as const;
}

function toleration(tenant: string): Json {
  return { key: NODE_TENANT, operator: 'Equal', value: tenant, effect: 'NoSchedule' };
}

function isOwnToleration({ key, operator = 'Equal', value, effect }: Json, tenant: string): boolean {
  return key === NODE_TENANT && operator === 'Equal' && value === tenant && effect === 'NoSchedule';
}

/** The Pod spec, for the tenant's own nodes only. @returns the same spec when it already is */
export function pinned(spec: Json, tenant: string): Json {
  const tolerates = (spec.tolerations ?? []).some((entry: Json) => isOwnToleration(entry, tenant));
  if (tolerates && spec.nodeSelector?.[NODE_TENANT] === tenant) return spec;
  return {
    ...spec,
    nodeSelector: { ...spec.nodeSelector, [NODE_TENANT]: tenant },
    tolerations: tolerates ? spec.tolerations : [...(spec.tolerations ?? []), toleration(tenant)],
  };
}

/** The Pod spec without what `pinned` added. @returns the same spec when there was nothing */
export function unpinned(spec: Json, tenant: string): Json {
  if (spec.nodeSelector?.[NODE_TENANT] !== tenant) return spec;
  const { [NODE_TENANT]: _, ...nodeSelector } = spec.nodeSelector;
  return { ...spec, nodeSelector, tolerations: (spec.tolerations ?? []).filter((entry: Json) => !isOwnToleration(entry, tenant)) };
}
