import { API_VERSION } from '../../../../api/hnc.x-k8s.io/v1alpha2/group.ts';
import type { HierarchicalResourceQuota } from '../../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { ALL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { NAMESPACES_BELOW, OWNED_BY_TENANT, RUNS_IN_FLIGHT, TENANT_QUOTA } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { canonicalQuantity } from '../../../../kube/quantity.ts';

type Amounts = Readonly<Record<string, string | number>>;

/** The tenant's limits as quotas over its tree. Namespaces are counted as the anchors that ask for them. */
export function quotaObjects({ metadata, spec }: Tenant): KubeObject[] {
  const namespace = metadata.name!;
  const hard: Record<string, string> = amounts(spec.quota?.hard ?? {});
  if (spec.quota?.namespaces !== undefined) hard[NAMESPACES_BELOW] = String(spec.quota.namespaces - 1);
  if (spec.runs?.maxInFlight !== undefined) hard[RUNS_IN_FLIGHT] = String(spec.runs.maxInFlight);
  const labels = { [OWNED_BY_TENANT]: namespace };
  const quota = (name: string, quotaSpec: object): KubeObject => ({
    apiVersion: API_VERSION,
    kind: 'HierarchicalResourceQuota',
    metadata: { name, namespace, labels },
    spec: quotaSpec,
  });
  const scoped = (spec.quota?.scoped ?? []).map((scope) =>
    quota(`${TENANT_QUOTA}-${scope.name}`, {
      hard: amounts(scope.hard),
      ...(scope.scopeSelector ? { scopeSelector: scope.scopeSelector } : {}),
    }),
  );
  return Object.keys(hard).length > 0 ? [quota(TENANT_QUOTA, { hard }), ...scoped] : scoped;
}

/**
 * What containers get that say nothing, where the Tenant says nothing either: enough to start, too little to harm others. CPU is shared by
 * what was requested, so it needs a limit only where limits are counted.
 */
function defaultLimits(counted: Amounts = {}): NonNullable<Tenant['spec']['limits']> {
  const cpu: Record<string, string> = counted['limits.cpu'] === undefined ? {} : { cpu: '1' };
  return { default: { ...cpu, memory: '1Gi' }, defaultRequest: { cpu: '100m', memory: '128Mi' } };
}

export function limitRange({ metadata, spec }: Tenant): KubeObject {
  const namespace = metadata.name!;
  const limits = spec.limits ?? defaultLimits(spec.quota?.hard);
  const item: Record<string, object | string> = { type: 'Container' };
  for (const field of ['default', 'defaultRequest', 'max'] as const) if (limits[field]) item[field] = amounts(limits[field]);
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: {
      name: TENANT_QUOTA,
      namespace,
      labels: { [OWNED_BY_TENANT]: namespace },
      annotations: { [ALL]: 'true' },
    },
    spec: { limits: [item] },
  };
}

/** Use against limits over the whole tree; those of a scope carry its name. */
export function usageOf(quotas: readonly HierarchicalResourceQuota[]): Record<string, { hard: string; used: string }> {
  const usage: Record<string, { hard: string; used: string }> = {};
  for (const { metadata, spec, status } of quotas.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))) {
    const scope = metadata.name === TENANT_QUOTA ? '' : `${metadata.name!.slice(TENANT_QUOTA.length + 1)}:`;
    for (const [resource, hard] of Object.entries((spec?.hard ?? {}) as Amounts)) {
      const used = status?.used?.[resource] ?? '0';
      usage[`${scope}${resource}`] = { hard: String(hard), used: String(used) };
    }
  }
  return usage;
}

function amounts(resources: Amounts): Record<string, string> {
  return Object.fromEntries(Object.entries(resources).map(([resource, amount]) => [resource, canonicalQuantity(amount)]));
}
