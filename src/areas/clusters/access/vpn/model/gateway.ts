import type { Vpc as VpcObject } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import type { VpnGateway } from '../../../network/model/vpc.ts';

/** What WireGuard uses when nobody says otherwise. */
export const VPN_PORT = 51_820;

/** The gateway that a VPC should have, once it has the address for it. */
export function gatewayOf({ spec, status }: Pick<VpcObject, 'spec' | 'status'>): VpnGateway | undefined {
  const external = status?.external?.address;
  if (spec.vpn === undefined || external === undefined) return undefined;
  return { external, port: spec.vpn.port ?? VPN_PORT, clients: [...new Set(spec.vpn.peers.flatMap(({ addresses }) => addresses))] };
}
