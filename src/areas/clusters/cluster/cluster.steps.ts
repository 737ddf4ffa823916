import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Vpc } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Outcome } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { TenantBalancers } from '../access/load-balancer/tenant-balancers.ts';
import type { TenantServices } from '../access/services/tenant-services.ts';
import type { AddOn } from '../add-ons/add-on.ts';
import type { TenantConnection } from '../add-ons/tenant-connection.ts';
import type { ControlPlanes, RunningControlPlane } from '../control-plane/control-planes.ts';
import type { AddOnOffer, Bounds } from '../policy/model/bounds.ts';
import type { Offers } from '../policy/model/offers.ts';
import type { VpcState } from '../vpc/tenant-networks.ts';
import type { Placements } from '../placement/placements.ts';
import { accepted } from './steps/accepted.step.ts';
import { accessGranted } from './steps/access-granted.step.ts';
import { addOnsInstalled } from './steps/add-ons-installed.step.ts';
import { backedUp } from './steps/backed-up.step.ts';
import { controlPlaneReady } from './steps/control-plane-ready.step.ts';
import { networkReady } from './steps/network-ready.step.ts';
import { platformServed } from './steps/platform-served.step.ts';
import { placementKept } from './steps/placement-kept.step.ts';
import { restored } from './steps/restored.step.ts';
import { servicesPublished } from './steps/services-published.step.ts';
import { workerSteps } from './steps/workers-ready.step.ts';

export interface ClusterPorts {
  tenantOf(cluster: TenantCluster): Tenant | undefined;
  /** Undefined: no policy selects the tenant. */
  boundsOf(tenant: Tenant): Bounds | undefined;
  offers: Offers;
  planesOf(cluster: TenantCluster): ControlPlanes;
  /** In the same namespace. */
  clusterNamed(namespace: string, name: string): TenantCluster | undefined;
  /** What the last round found running; undefined while it sleeps. */
  running(cluster: TenantCluster): RunningControlPlane | undefined;
  setRunning(cluster: TenantCluster, running: RunningControlPlane | undefined): Promise<void>;
  connection(cluster: TenantCluster): Promise<TenantConnection>;
  /** @throws Error when its manifests cannot be read */
  addOn(offer: AddOnOffer): Promise<AddOn | undefined>;
  keepSecret(secret: KubeObject): Promise<void>;
  keepPlacement: Placements['keep'];
  /** Of its tenant. */
  vpcOf(cluster: TenantCluster): Vpc | undefined;
  makeVpc(vpc: Vpc): Promise<void>;
  /** The tenant's further clusters. */
  othersOf(cluster: TenantCluster): TenantCluster[];
  ensureNetwork(vpc: string): Promise<VpcState>;
  /** Makes its workers what its pools ask for. */
  keepWorkers(cluster: TenantCluster): Promise<Outcome>;
  /** Ends their machines. */
  sleepWorkers(cluster: TenantCluster): Promise<void>;
  services: TenantServices;
  /** Where the platform serves the workers of all clusters. */
  servedAddresses(): string[];
  /** The Services inside that want an address. */
  balancers(cluster: TenantCluster): Promise<TenantBalancers>;
}

/**
 * What there is to know of it, then where it lives, then what it holds, then that it answers, then what must be in it, who may use it, and
 * copies of it. What its administrators can refuse with a webhook of theirs comes behind what must be in it.
 */
export function clusterSteps(ports: ClusterPorts): Step<TenantCluster>[] {
  const workers = workerSteps(ports);
  return [
    accepted(ports),
    networkReady(ports),
    platformServed(ports),
    restored(ports),
    controlPlaneReady(ports),
    addOnsInstalled(ports),
    accessGranted(ports),
    servicesPublished(ports),
    workers.kept,
    placementKept(ports),
    backedUp(ports),
    workers.ready,
  ];
}
