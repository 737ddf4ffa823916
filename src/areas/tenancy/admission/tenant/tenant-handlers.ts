import { NODE_TENANT, ROLE_LABEL, TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { Namespace, Node } from '../../../../client/kinds.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import type { TenancyEnvironment } from '../../tenancy-environment.ts';
import { QuotaGuard } from '../../quota/quota-guard.ts';
import { whenKnown } from '../hierarchy/until-known.ts';
import { whenCounted } from '../quota/when-counted.ts';
import { clusterRefusal } from './cluster-refusal.ts';
import { guardHandler } from './guard-handler.ts';
import { placementHandler } from './placement-handler.ts';
import { tenantHandler } from './tenant-handler.ts';
import { tenantLookup } from './tenant-of-request.ts';
import { GUARD_RULE, PLACEMENT_RULE, TENANT_RULE, WORKLOAD_RULE } from './tenant-rules.ts';
import { workloadHandler } from './workload-handler.ts';

/** What decides about Tenants and what is in them, by path. */
export function tenantHandlers(environment: TenancyEnvironment): Record<string, AdmissionHandler> {
  const { forest, informers } = environment;
  const lookup = tenantLookup(environment);
  const nodes = informers.get(Node);
  const namespaces = informers.get(Namespace);
  const quotas = new QuotaGuard(environment.quotas, forest, environment.runs, environment.clock);
  const inNamespace = (handler: AdmissionHandler): AdmissionHandler => whenKnown(environment, whenCounted(quotas, handler));
  return {
    [TENANT_RULE.path]: tenantHandler((name) => {
      const metadata = namespaces.get(name)?.metadata;
      if (!metadata) return undefined;
      const { labels, deletionTimestamp } = metadata;
      const place = { tenant: labels?.[TENANT_LABEL], role: labels?.[ROLE_LABEL], parent: forest.get(name)?.parent };
      return { ...place, terminating: deletionTimestamp !== undefined };
    }, clusterRefusal(environment.client)),
    [PLACEMENT_RULE.path]: whenKnown(environment, placementHandler(lookup)),
    [WORKLOAD_RULE.path]: inNamespace(
      workloadHandler({
        lookup,
        tenantOfNode: (node) => nodes.get(node)?.metadata.labels?.[NODE_TENANT],
        isNamespaceOf: (tenant, namespace) => forest.get(namespace)?.tenant === tenant,
      }),
    ),
    [GUARD_RULE.path]: inNamespace(guardHandler(lookup)),
  };
}
