import type { TenantCluster } from '../../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { ipv4Range, overlap } from '../../../../../kube/ipv4-range.ts';
import { vpnProblems } from '../../../network/model/access-problems.ts';
import type { Platform, Vpc, VpnGateway } from '../../../network/model/vpc.ts';

/** What WireGuard uses when nobody says otherwise. */
export const VPN_PORT = 51_820;

/** The gateway that a VPC should have, once it has the address for it. */
export function gatewayOf({ spec, status }: Pick<VpcObject, 'spec' | 'status'>): VpnGateway | undefined {
  const external = status?.external?.address;
  if (spec.vpn === undefined || external === undefined) return undefined;
  return { external, port: spec.vpn.port ?? VPN_PORT, clients: clientsOf(spec.vpn) };
}

/** Why an owner cannot have the gateway like this, in words for him. `vpc` is what else he wants, `residents` the clusters that live in it. */
export function gatewayRefusal(
  { spec }: Pick<VpcObject, 'spec'>,
  vpc: Vpc,
  residents: readonly TenantCluster[],
  platform: Platform,
): string | undefined {
  if (spec.vpn === undefined) return undefined;
  const pods = residents.flatMap(({ status }) =>
    status?.network?.podCidr === undefined ? [] : [{ cidr: status.network.podCidr, via: '' }],
  );
  const vpn = { external: '', port: VPN_PORT, clients: clientsOf(spec.vpn) };
  const [problem] = vpnProblems({ ...vpc, routes: [...vpc.routes, ...pods], vpn }, platform);
  return problem ?? peersProblem(spec.vpn.peers);
}

type Gateway = NonNullable<VpcObject['spec']['vpn']>;

/** An address leads to one peer, and a key is one peer's. */
function peersProblem(peers: Gateway['peers']): string | undefined {
  for (const [position, { name, publicKey, addresses }] of peers.entries()) {
    for (const other of peers.slice(0, position)) {
      if (other.publicKey === publicKey) return `Cannot let VPN peer "${name}" in: ${other.name} has the same key; give it one of its own`;
      const taken = addresses.find((cidr) => other.addresses.some((its) => overlap(ipv4Range(its), ipv4Range(cidr))));
      if (taken !== undefined) return `Cannot give ${taken} to VPN peer "${name}": it is also that of ${other.name}; choose another`;
    }
  }
  return undefined;
}

function clientsOf({ peers }: Gateway): string[] {
  return [...new Set(peers.flatMap(({ addresses }) => addresses))];
}
