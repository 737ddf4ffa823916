import { treeLabel } from '../../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { TENANT_LABEL } from '../../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { cidrContains, parseCidr } from '../../../../../kube/ip.ts';
import type { Json } from '../../../../../kube/object.ts';

/**
 * Policies add up, so that an owner's own one could open what the tenant's boundary closes. Who may reach the owner's Pods is his to say;
 * what they reach must stay inside the tenant, or inside what the Tenant allows. @returns why it does not
 */
export function opensEgress(
  spec: Json,
  tenant: string,
  tenantSpec: Tenant['spec'],
  isOwn: (namespace: string) => boolean,
): string | undefined {
  for (const { to, ports } of spec?.egress ?? []) {
    if (!to?.length) return 'an egress rule without "to" reaches everything; name what it reaches';
    for (const peer of to) {
      const why = peer.ipBlock ? blockRefusal(peer.ipBlock, ports, tenantSpec) : selectorRefusal(peer.namespaceSelector, tenant, isOwn);
      if (why !== undefined) return why;
    }
  }
  return undefined;
}

function selectorRefusal(selector: Json, tenant: string, isOwn: (namespace: string) => boolean): string | undefined {
  if (selector === undefined || selector === null) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (matchLabels[TENANT_LABEL] === tenant || matchLabels[treeLabel(tenant)] !== undefined) return undefined;
  const named: string | undefined = matchLabels['kubernetes.io/metadata.name'];
  if (named !== undefined && isOwn(named)) return undefined;
  const narrowed = matchExpressions.some(
    ({ key, operator, values = [] }: Json) =>
      (key === treeLabel(tenant) && operator === 'Exists') ||
      (key === TENANT_LABEL && operator === 'In' && values.every((value: string) => value === tenant)),
  );
  if (narrowed) return undefined;
  return `its egress selects namespaces of others; add the label "${TENANT_LABEL}: ${tenant}" to its namespaceSelector`;
}

function blockRefusal({ cidr }: Json, ports: Json, { network }: Tenant['spec']): string | undefined {
  const block = parseCidr(cidr);
  if (!block) return undefined;
  const inside = (network?.allow ?? []).some(({ cidr: allowed, ports: open }) => {
    const range = parseCidr(allowed);
    return range !== undefined && range.prefix <= block.prefix && cidrContains(range, block.address) && areAmong(ports, open);
  });
  return inside ? undefined : `its egress to ${cidr} is not among spec.network.allow of the Tenant; have it added there`;
}

/** Whether a rule for these ports opens none but those; no ports are all of them. */
function areAmong(ports: Json, open: readonly number[] | undefined): boolean {
  if (!open?.length) return true;
  if (!ports?.length) return false;
  return ports.every(({ protocol = 'TCP', port, endPort = port }: Json) => protocol === 'TCP' && endPort === port && open.includes(port));
}

const EVERYBODY = new Set(['system:authenticated', 'system:unauthenticated', 'system:anonymous', 'system:serviceaccounts']);

/** A binding that gives everybody in the cluster, or on the network, rights in a tenant. */
export function bindsEverybody(subjects: Json): string | undefined {
  const found = (subjects ?? []).find(({ kind, name }: Json) => kind !== 'ServiceAccount' && EVERYBODY.has(name));
  return found && `it binds "${found.name}", which is everybody; name users, groups or service accounts`;
}
