import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { TenantServices } from './access/services/tenant-services.ts';
import type { Gateways } from './access/vpn/gateways.ts';
import type { ControlPlanes } from './control-plane/control-planes.ts';
import type { TenantHomes } from './placement/tenant-homes.ts';
import type { Offers } from './policy/model/offers.ts';
import type { MachineKind, OpenMachines, WorkerMachines } from './workers/worker-machines.ts';
import type { OpenNetworks, TenantNetworks } from './vpc/tenant-networks.ts';

/** What the area is started with. */
export interface ClustersStart {
  /** Of the cluster that tenants' clusters are objects of. */
  hostClient: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  controlPlanes: readonly ControlPlanes[];
  /** Makes the Kinds of the runs area, and the rights of its controllers, known in a tenant's cluster. */
  installRuns(tenantClient: Client): Promise<void>;
  /** Told which clusters tenants live in. */
  homes: TenantHomes;
  /** What can be had here. */
  offers: Omit<Offers, 'networks' | 'machines'>;
  /** Kinds of machines that may be had, as far as nobody has tried. */
  machineKinds: readonly MachineKind[];
  openMachines: OpenMachines;
  /** Who makes networks, asked when the first is wanted. */
  openNetworks: OpenNetworks;
  /** Names and images for workers. */
  services: TenantServices;
  /** Who runs VPN gateways. */
  gateways: Gateways;
}

export interface ClustersEnvironment extends ClustersStart {
  informers: SharedInformers;
  offers: Offers;
  networks: TenantNetworks;
  machines: WorkerMachines;
  planesOf(provider: string | undefined): ControlPlanes | undefined;
}
