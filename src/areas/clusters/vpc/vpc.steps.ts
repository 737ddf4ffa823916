import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { Platform } from '../network/model/vpc.ts';
import type { Gateways } from '../access/vpn/gateways.ts';
import { vpnGone, vpnServed } from './steps/vpn-served.step.ts';
import type { ExternalAddress } from '../access/external/model/external-address.ts';
import { externalAddress } from './steps/external-address.step.ts';
import { gone, unused } from './steps/gone.step.ts';
import { numbered } from './steps/numbered.step.ts';
import { programmed } from './steps/programmed.step.ts';
import type { VpcState } from './tenant-networks.ts';

export interface VpcPorts {
  /** Why there are no networks here. */
  unable(): Promise<string | undefined>;
  platform(): Promise<Platform>;
  /** A pair of transit addresses that no VPC has. */
  newIndex(vpc: Vpc, platform: Platform): number;
  /** An external address that no VPC has; the one that it has, if it can keep it. */
  giveExternal(vpc: Vpc): Promise<ExternalAddress>;
  gateways: Gateways;
  /** Where programs of its router run; undefined: this provider runs none. */
  routerOf(vpc: string): Promise<{ namespace: string; vpnLink: string } | undefined>;
  /** Makes all networks what the objects say; tells what became of one. */
  ensure(vpc: string): Promise<VpcState>;
  /** The clusters that live in it. */
  residents(vpc: Vpc): TenantCluster[];
}

/** Its addresses, then its packets, then what is outside of it. */
export function vpcSteps(ports: VpcPorts): Step<Vpc>[] {
  return [numbered(ports), programmed(ports), externalAddress(ports), vpnServed(ports)];
}

export function vpcTeardown(ports: VpcPorts): Step<Vpc>[] {
  return [unused(ports), vpnGone(ports), gone(ports)];
}
