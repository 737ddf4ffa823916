import type { TenantCluster } from '../../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { VPN_PORT } from '../../vpn/model/gateway.ts';
import type { LoadBalancer } from '../../../network/model/vpc.ts';

type Status = NonNullable<VpcObject['status']>;
type ExternalService = NonNullable<NonNullable<Status['external']>['services']>[number];

/** The load balancers of the clusters in a VPC, with the external address where it names them. */
export function balancersOf(vpc: Pick<VpcObject, 'spec' | 'status'>, residents: readonly TenantCluster[]): LoadBalancer[] {
  const published = new Set(externalServices(vpc, residents).flatMap((one) => (one.state === 'Published' ? [keyOf(one)] : [])));
  return residents.flatMap(({ metadata, status }) =>
    (status?.loadBalancers ?? []).map(({ service, address, ports, sources = [], sticky = false }) => ({
      name: `${metadata.name}/${service}`,
      subnet: status!.network!.subnet,
      address,
      ports: ports.map(({ protocol, port, backends = [] }) => ({ protocol, port, backends })),
      sources,
      sticky,
      ...(published.has(`${metadata.name}/${service}`) ? { external: vpc.status!.external!.address } : {}),
    })),
  );
}

/** What became of each Service that should be reached from outside. Of two with the same port the first has it. */
export function externalServices(
  { spec, status }: Pick<VpcObject, 'spec' | 'status'>,
  residents: readonly TenantCluster[],
): ExternalService[] {
  const address = status?.external?.address;
  const used = new Map<string, string>(spec.vpn === undefined ? [] : [[`${spec.vpn.port ?? VPN_PORT}/udp`, 'the VPN gateway']]);
  return (spec.external?.services ?? []).map((wish) => {
    const balancer = residents
      .find(({ metadata }) => metadata.name === wish.cluster)
      ?.status?.loadBalancers?.find(({ service }) => service === `${wish.namespace}/${wish.name}`);
    if (balancer === undefined) {
      return {
        ...wish,
        state: 'Waiting',
        message: `cluster ${wish.cluster} has no load balancer for Service ${wish.namespace}/${wish.name} yet`,
      };
    }
    if (address === undefined) return { ...wish, state: 'Waiting', message: 'there is no external address yet' };
    const ports = balancer.ports.map(({ port, protocol }) => `${port}/${protocol}`);
    const clash = ports.find((port) => used.has(port));
    if (clash !== undefined)
      return { ...wish, state: 'Refused', message: `port ${clash} of ${address} is that of ${used.get(clash)}; give it another port` };
    for (const port of ports) used.set(port, keyOf(wish));
    return { ...wish, state: 'Published', ports };
  });
}

/** Where a Service is reached from outside. */
export function externalOf(vpc: VpcObject | undefined, cluster: string, service: string): string | undefined {
  const external = vpc?.status?.external;
  const found = external?.services?.find((one) => keyOf(one) === `${cluster}/${service}`);
  return found?.state === 'Published' ? external!.address : undefined;
}

function keyOf({ cluster, namespace, name }: { cluster: string; namespace: string; name: string }): string {
  return `${cluster}/${namespace}/${name}`;
}
