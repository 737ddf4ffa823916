import { TenantClusterKind, type TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { VPC_FINALIZER, VpcKind, type Vpc } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Change } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { stepReconciler } from '../../../runtime/steps/step-reconciler.ts';
import { externalAddressOf } from '../access/external/model/external-address.ts';
import { externalServices } from '../access/external/model/external-services.ts';
import type { ClustersEnvironment } from '../clusters-environment.ts';
import { freeIndex } from '../network/model/address-plan.ts';
import { isLeftOver, wantsNetwork } from './model/cluster-place.ts';
import { concernsNetwork } from './model/concerns-network.ts';
import { residentsOf } from './model/network-plan.ts';
import { vpcParts } from './model/vpc-status.ts';
import { wantedVpc } from './model/wanted-vpc.ts';
import { vpcSteps, vpcTeardown, type VpcPorts } from './vpc.steps.ts';

/** Many at once share one round of making networks. */
const CONCURRENCY = 32;
const FIELD_MANAGER = 'tenantry-clusters';

/** Keeps the networks of tenants as their Vpcs and clusters say. */
export function vpcController(environment: ClustersEnvironment): { start(): void; stop(): Promise<void> } {
  const { hostClient, clock, informers, networks, gateways } = environment;
  const vpcs = informers.get(VpcKind);
  const clusters = informers.get(TenantClusterKind);
  /** Numbers that were given and are not seen in a status yet. */
  const given = new Map<string, number>();
  const givenExternal = new Map<string, string>();
  const residents = (vpc: Vpc) => residentsOf(vpc, [...clusters.list()]);

  const ports: VpcPorts = {
    unable: () => networks.ask(),
    platform: () => networks.platform(),
    newIndex({ metadata }, platform) {
      const known = given.get(metadata.uid!);
      if (known !== undefined) return known;
      const index = freeIndex(platform, [...given.values(), ...[...vpcs.list()].flatMap(({ status }) => status?.index ?? [])]);
      given.set(metadata.uid!, index);
      return index;
    },
    async giveExternal(vpc) {
      const { external: ranges = [] } = await networks.platform();
      const others = [...vpcs.list()].filter(({ metadata }) => metadata.uid !== vpc.metadata.uid);
      const taken = new Set(
        others.flatMap(({ metadata, status }) => [status?.external?.address, givenExternal.get(metadata.uid!)].flatMap((one) => one ?? [])),
      );
      const found = externalAddressOf(vpc, ranges, taken);
      if ('address' in found) givenExternal.set(vpc.metadata.uid!, found.address);
      return found;
    },
    gateways,
    routerOf: (name) => networks.routerOf(name),
    ensure: (name) => networks.ensure(name),
    residents,
  };

  const summarise = (vpc: Vpc) => {
    const peers = (vpc.spec.peers ?? []).flatMap((name) => vpcs.get(`${name}/${name}`) ?? []);
    const byName = new Map(
      peers.flatMap((each) =>
        each.status?.index === undefined ? [] : [[each.metadata.name!, wantedVpc(each, each.status.index, residents(each))]],
      ),
    );
    const inside = residents(vpc);
    const external = vpc.status?.external && { external: { ...vpc.status.external, services: externalServices(vpc, inside) } };
    vpc.status = { ...vpc.status, ...external, ...vpcParts(wantedVpc(vpc, vpc.status?.index ?? 0, inside), byName, inside) };
  };

  const steps = stepReconciler<Vpc>({
    clock,
    read: (key) => vpcs.get(key),
    resource: (namespace) => hostClient.resource(VpcKind, namespace),
    fieldManager: FIELD_MANAGER,
    finalizer: VPC_FINALIZER,
    steps: vpcSteps(ports),
    teardown: vpcTeardown(ports),
    summarise,
  });

  const controller: Controller = new Controller({
    ...environment,
    name: 'vpc',
    concurrency: CONCURRENCY,
    async reconcile(key, context) {
      const vpc = vpcs.get(key);
      if (vpc && isLeftOver(vpc, [...clusters.list()])) {
        const preconditions = { uid: vpc.metadata.uid, resourceVersion: vpc.metadata.resourceVersion };
        await hostClient
          .resource(VpcKind, vpc.metadata.namespace)
          .delete(vpc.metadata.name!, { preconditions })
          .catch((error: unknown) => {
            if (!isStatusError(error, 'NotFound')) throw error;
          });
        return undefined;
      }
      return steps(key, context);
    },
  })
    .watch(vpcs, (change) => [keyOf(change.object), ...neighboursOf(change)])
    .watch(clusters, (change) => (concerns(change) ? [`${change.object.metadata.namespace}/${change.object.metadata.namespace}`] : []));
  const forget = vpcs.onChange(({ type, object }) => {
    if (type === 'deleted' || object.status?.index !== undefined) given.delete(object.metadata.uid!);
    if (type === 'deleted' || object.status?.external?.address === givenExternal.get(object.metadata.uid!))
      givenExternal.delete(object.metadata.uid!);
  });
  const stopGateways = gateways.onEnd((id) => {
    for (const vpc of vpcs.list()) if (vpc.metadata.uid === id) controller.queue.add(keyOf(vpc));
  });
  return {
    start: () => void controller.start(),
    async stop() {
      stopGateways();
      forget();
      await controller.stop();
    },
  };
}

/** Those that a VPC names or named: what they want becomes possible, or ends. */
function neighboursOf(change: Change<Vpc>): string[] {
  const before = change.type === 'modified' ? change.previous.spec : undefined;
  if (before && deepEqual(before, change.object.spec)) return [];
  return [...(change.object.spec.peers ?? []), ...(before?.peers ?? [])].map((name) => `${name}/${name}`);
}

function concerns(change: Change<TenantCluster>): boolean {
  if (change.type === 'modified') return concernsNetwork(change.previous, change.object);
  return wantsNetwork(change.object) || change.type === 'deleted';
}
