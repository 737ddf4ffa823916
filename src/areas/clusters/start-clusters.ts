import type { AdmissionHandler } from '../../runtime/admission/review.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { TENANT_CLUSTER_RULE, VPC_RULE } from './admission/cluster-rules.ts';
import { tenantClusterHandler } from './admission/tenant-cluster.handler.ts';
import { clusterController } from './cluster/cluster.controller.ts';
import type { ClustersEnvironment, ClustersStart } from './clusters-environment.ts';
import { policyStatusController } from './policy/policy-status.controller.ts';
import { TenantNetworks } from './vpc/tenant-networks.ts';
import { vpcController } from './vpc/vpc.controller.ts';
import { WorkerMachines } from './workers/worker-machines.ts';
import { vpcHandler } from './vpc/vpc.handler.ts';

export interface RunningClusters {
  stop(): Promise<void>;
}

export function openClusters(options: ClustersStart): ClustersEnvironment {
  const informers = new SharedInformers({ client: options.hostClient, log: options.log });
  const planes = new Map(options.controlPlanes.map((each) => [each.provider as string, each]));
  const networks = new TenantNetworks({ ...options, open: options.openNetworks, informers });
  const machines = new WorkerMachines(options.machineKinds, options.openMachines);
  const offers = {
    ...options.offers,
    networks,
    get machines() {
      return machines.offered;
    },
  };
  return { ...options, informers, networks, machines, offers, planesOf: (provider) => planes.get(provider ?? '') };
}

/** The rules of admission by their paths, ready to answer. */
export async function clusterAdmission({
  informers,
  offers,
  networks,
  clock,
}: ClustersEnvironment): Promise<Record<string, AdmissionHandler>> {
  const [clusters, vpcs] = await Promise.all([
    tenantClusterHandler(informers, offers, networks, clock),
    vpcHandler(informers, networks, clock),
  ]);
  return { [TENANT_CLUSTER_RULE.path]: clusters, [VPC_RULE.path]: vpcs };
}

/** The controllers of the area. When they stop, tenants' clusters run on. */
export function startClusterControllers(environment: ClustersEnvironment): RunningClusters {
  const controllers = [clusterController(environment), policyStatusController(environment), vpcController(environment)];
  for (const controller of controllers) controller.start();
  return {
    async stop() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await Promise.all(environment.controlPlanes.map((planes) => planes.close()));
      await environment.machines.close();
      await environment.networks.close();
      environment.gateways.close();
      await environment.services.stop();
    },
  };
}
