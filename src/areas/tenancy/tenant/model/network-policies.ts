import { DNS_EGRESS } from '../../../../kube/network-policy-rules.ts';
import { ALL, treeLabel } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import {
  OWNED_BY_TENANT,
  REACHES_TENANTS_LABEL,
  ROLE_LABEL,
  SYSTEM_ROLE,
  systemNamespaceOf,
  TENANT_LABEL,
} from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';

/** What of the cluster a policy must name by address. */
export interface NetworkFacts {
  /** Where the API server answers: its Service, and what is behind it. */
  api: readonly { cidr: string; port: number }[];
  /** Ranges that are not the internet. */
  excluded: readonly string[];
}

/** In the tenant's root, copied to all namespaces of its owners. */
export const BOUNDARY = 'tenant-boundary';
/** In its system namespace. */
export const SYSTEM_BOUNDARY = 'tenant-system-boundary';

/** Nothing reaches the tenant's Pods, and they reach nothing, but what is named here. */
export function networkPolicies(tenant: Tenant, facts: NetworkFacts): KubeObject[] {
  const name = tenant.metadata.name!;
  const labels = { [OWNED_BY_TENANT]: name };
  const policy = (metadata: object, spec: object): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { labels, ...metadata },
    spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ...spec },
  });
  const outside = outsideRules(tenant, facts);
  return [
    policy(
      { name: BOUNDARY, namespace: name, annotations: { [ALL]: 'true' } },
      {
        ingress: [{ from: [...reachedFrom(tenant), REACHING] }],
        egress: [{ to: reaches(tenant) }, ...outside],
      },
    ),
    policy(
      { name: SYSTEM_BOUNDARY, namespace: systemNamespaceOf(name) },
      {
        ingress: [{ from: [{ podSelector: {} }, REACHING] }],
        egress: [{ to: [{ podSelector: {} }, { namespaceSelector: inTree(name) }] }, ...outside],
      },
    ),
  ];
}

const REACHING = {
  namespaceSelector: {
    matchLabels: { [REACHES_TENANTS_LABEL]: 'true' },
    matchExpressions: [{ key: TENANT_LABEL, operator: 'DoesNotExist' }],
  },
};

function reachedFrom({ metadata, spec }: Tenant): Json[] {
  const name = metadata.name!;
  if (spec.network?.between !== 'Namespace') return [{ namespaceSelector: { matchExpressions: [exists(name)] } }];
  const system = { [ROLE_LABEL]: SYSTEM_ROLE };
  return [{ podSelector: {} }, { namespaceSelector: { matchLabels: system, matchExpressions: [exists(name)] } }];
}

/** The system namespace reaches the tenant, never the other way round. */
function reaches({ metadata, spec }: Tenant): Json[] {
  return spec.network?.between === 'Namespace' ? [{ podSelector: {} }] : [{ namespaceSelector: inTree(metadata.name!) }];
}

function inTree(tenant: string): Json {
  return { matchExpressions: [exists(tenant), { key: ROLE_LABEL, operator: 'NotIn', values: [SYSTEM_ROLE] }] };
}

function exists(tenant: string): Json {
  return { key: treeLabel(tenant), operator: 'Exists' };
}

function outsideRules({ spec }: Tenant, { api, excluded }: NetworkFacts): Json[] {
  const toApi = api.map(({ cidr, port }) => ({ to: [{ ipBlock: { cidr } }], ports: [{ protocol: 'TCP', port }] }));
  const allowed = (spec.network?.allow ?? []).map(({ cidr, ports }) => ({
    to: [{ ipBlock: { cidr } }],
    ...(ports?.length ? { ports: ports.map((port) => ({ protocol: 'TCP', port })) } : {}),
  }));
  return [DNS_EGRESS, ...toApi, ...(spec.network?.internet === false ? [] : [{ to: internet(excluded) }]), ...allowed];
}

function internet(excluded: readonly string[]): Json[] {
  const except = (v6: boolean) => excluded.filter((range) => range.includes(':') === v6);
  return [{ ipBlock: { cidr: '0.0.0.0/0', except: except(false) } }, { ipBlock: { cidr: '::/0', except: except(true) } }];
}
