import { treeLabel } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { OWNED_BY_TENANT, REACHES_TENANTS_LABEL, ROLE_LABEL, SYSTEM_ROLE } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';

export const CiliumClusterwideNetworkPolicy: Kind = {
  group: 'cilium.io',
  version: 'v2',
  kind: 'CiliumClusterwideNetworkPolicy',
  plural: 'ciliumclusterwidenetworkpolicies',
  namespaced: false,
};

const NAMESPACE_LABEL = 'k8s:io.cilium.k8s.namespace.labels.';

/**
 * The same boundary for Cilium, where one object holds for all namespaces of the tenant from the moment they are labelled, and its
 * denials win over whatever else allows.
 */
export function ciliumPolicies({ metadata, spec }: Tenant): KubeObject[] {
  const name = metadata.name!;
  const inTree = { key: `${NAMESPACE_LABEL}${treeLabel(name)}`, operator: 'Exists' };
  const ofSystem = `${NAMESPACE_LABEL}${ROLE_LABEL}`;
  const notSystem = { key: ofSystem, operator: 'NotIn', values: [SYSTEM_ROLE] };
  const dns = {
    toEndpoints: [{ matchLabels: { 'k8s:io.kubernetes.pod.namespace': 'kube-system', 'k8s:k8s-app': 'kube-dns' } }],
    toPorts: [{ ports: [{ port: '53', protocol: 'ANY' }] }],
  };
  const allowed: Json[] = (spec.network?.allow ?? []).map(({ cidr, ports }) => ({
    toCIDRSet: [{ cidr }],
    ...(ports?.length ? { toPorts: [{ ports: ports.map((port) => ({ port: String(port), protocol: 'TCP' })) }] } : {}),
  }));
  const reaching = { matchLabels: { [`${NAMESPACE_LABEL}${REACHES_TENANTS_LABEL}`]: 'true' } };
  return [
    {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumClusterwideNetworkPolicy',
      metadata: { name: `tenantry-${name}`, labels: { [OWNED_BY_TENANT]: name } },
      spec: {
        endpointSelector: { matchExpressions: [inTree, notSystem] },
        ingress: [{ fromEndpoints: [{ matchExpressions: [inTree] }, reaching] }],
        egress: [
          { toEndpoints: [{ matchExpressions: [inTree, notSystem] }] },
          { toEntities: ['kube-apiserver'] },
          dns,
          ...(spec.network?.internet === false ? [] : [{ toEntities: ['world'] }]),
          ...allowed,
        ],
        egressDeny: [{ toEndpoints: [{ matchLabels: { [ofSystem]: SYSTEM_ROLE } }] }],
      },
    },
  ];
}
