import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { externalAddresses } from '../../network/model/balanced.ts';
import type { NetworkPlan, Platform, Vpc } from '../../network/model/vpc.ts';
import { wantedVpc } from './wanted-vpc.ts';

/** What there should be of networks, and which VPCs are left out because another has what they claim. */
export interface Planned {
  plan: NetworkPlan;
  refused: ReadonlyMap<string, string>;
}

/** The clusters that live in a VPC: those that have a place in it. */
export function residentsOf({ metadata }: VpcObject, clusters: readonly TenantCluster[]): TenantCluster[] {
  return clusters.filter((cluster) => cluster.metadata.namespace === metadata.namespace && cluster.status?.network !== undefined);
}

/** All networks, from objects alone. A VPC that is deleted stays while a cluster lives in it. */
export function networkPlan(vpcs: readonly VpcObject[], clusters: readonly TenantCluster[], platform: Platform): Planned {
  const refused = new Map<string, string>();
  const claims = new Map<string, string>();
  const wanted: Vpc[] = [];
  const byTenant = new Map<string, TenantCluster[]>();
  for (const cluster of clusters) {
    const tenant = cluster.metadata.namespace!;
    byTenant.set(tenant, [...(byTenant.get(tenant) ?? []), cluster]);
  }
  for (const vpc of [...vpcs].sort(byAge)) {
    const residents = residentsOf(vpc, byTenant.get(vpc.metadata.namespace!) ?? []);
    const index = vpc.status?.index;
    // Until its number is written down, nothing is made of it.
    if (index === undefined || (vpc.metadata.deletionTimestamp !== undefined && residents.length === 0)) continue;
    const model = wantedVpc(vpc, index, residents);
    const clash = claimsOf(model).find(({ key }) => claims.has(key));
    if (clash) refused.set(model.name, clash.message);
    else {
      for (const { key } of claimsOf(model)) claims.set(key, model.name);
      wanted.push(model);
    }
  }
  return { plan: { platform, vpcs: wanted }, refused };
}

/** What only one VPC of all tenants can have. Who has it is nobody else's business. */
function claimsOf(vpc: Vpc): { key: string; message: string }[] {
  const { name, index, subnets } = vpc;
  return [
    ...externalAddresses(vpc).map((address) => ({
      key: `external ${address}`,
      message: `Cannot use external address "${address}" for VPC "${name}": it is in use; choose another`,
    })),
    { key: `name ${name}`, message: `Cannot make VPC "${name}": the name is in use; delete it` },
    { key: `pair ${index}`, message: `Cannot make VPC "${name}": its pair of transit addresses is in use; delete it and make it again` },
    ...subnets.flatMap((subnet) =>
      subnet.vlan === undefined
        ? []
        : [
            {
              key: `vlan ${subnet.vlan}`,
              message: `Cannot use VLAN "${subnet.vlan}" for subnet "${subnet.name}": it is in use; choose another id`,
            },
          ],
    ),
  ];
}

function byAge(a: VpcObject, b: VpcObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`);
  return first < second ? -1 : Number(first > second);
}
