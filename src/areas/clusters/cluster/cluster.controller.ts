import {
  CLUSTER_FINALIZER,
  CLUSTER_LABEL,
  ClusterCondition,
  kubeconfigSecretOf,
} from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { ClusterPolicyKind } from '../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { TenantClusterKind, type TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { TenantKind } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { VpcKind } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { EventRecorder } from '../../../runtime/event-recorder.ts';
import type { Change } from '../../../runtime/informer/informer.ts';
import { keyOf, splitKey } from '../../../runtime/informer/object-cache.ts';
import { done } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import { stepReconciler } from '../../../runtime/steps/step-reconciler.ts';
import { TenantConnections } from '../add-ons/tenant-connections.ts';
import type { ClustersEnvironment } from '../clusters-environment.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { boundsOf } from '../policy/model/bounds.ts';
import { nextExpiry } from '../policy/model/next-expiry.ts';
import { violationsOf } from '../policy/model/violations.ts';
import { wantsNetwork } from '../vpc/model/cluster-place.ts';
import { Placements } from '../placement/placements.ts';
import { removeOrphans, removeWorkers, sleepWorkers } from '../workers/cluster-workers.ts';
import { machineId } from '../workers/model/pool-plan.ts';
import { keepClusterWorkers } from '../workers/keep-cluster-workers.ts';
import { AddOnCatalog } from './add-on-catalog.ts';
import { clusterSteps, type ClusterPorts } from './cluster.steps.ts';
import { certificatesEvent } from './model/certificates.ts';
import { networkReleased } from './steps/network-released.step.ts';
import { summarise, type ClusterFacts } from './summarise.ts';

/** Most of the time they wait for an answer. What costs is bounded where it is done: control planes that start. */
const CONCURRENCY = 32;
/** Of one tenant: clusters that answer slowly keep its own others waiting, and nobody else's. */
const OF_ONE_TENANT = { groupOf: (key: string) => splitKey(key).namespace!, atOnce: 2 };
const FIELD_MANAGER = 'tenantry-clusters';
const EVENT_SOURCE = 'tenantry.dev/tenant-cluster';
const BY_UID = 'uid';

/** Keeps what every TenantCluster stands for: a control plane that answers, the rights in it, and what the operator wants to be there. */
export function clusterController(environment: ClustersEnvironment): { start(): void; stop(): Promise<void> } {
  const { hostClient, clock, informers, offers, networks } = environment;
  const clusters = informers.get(TenantClusterKind);
  const policies = informers.get(ClusterPolicyKind);
  const tenants = informers.get(TenantKind);
  const vpcs = informers.get(VpcKind);
  const secrets = informers.get(Secret, { labelSelector: CLUSTER_LABEL });
  clusters.addIndex(BY_UID, ({ metadata }) => [metadata.uid!]);

  const wakeById = (id: string) => {
    for (const cluster of clusters.byIndex(BY_UID, id)) controller.queue.add(keyOf(cluster));
  };
  const wakeAll = () => {
    for (const cluster of clusters.list()) controller.queue.add(keyOf(cluster));
  };
  const wakeOwnerOf = (machine: string) => {
    const has = ({ metadata, status }: TenantCluster) => status?.workers?.some(({ name }) => machineId(metadata.uid!, name) === machine);
    for (const cluster of clusters.list()) if (has(cluster)) controller.queue.add(keyOf(cluster));
  };
  const connections = new TenantConnections(wakeById);
  const placements = new Placements({ ...environment, onChange: wakeById });
  const events = new EventRecorder({ client: hostClient, log: environment.log, controller: EVENT_SOURCE, instance: 'tenantry' });
  const catalog = new AddOnCatalog(informers, wakeAll);
  const runningById = new Map<string, RunningControlPlane>();
  const clustersOf = (namespace: string) => [...clusters.list()].filter(({ metadata }) => metadata.namespace === namespace);

  const servedAddresses = () =>
    [...clusters.list()]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .flatMap(({ status }) => status?.network?.address ?? []);

  const workersOf = (id: string) => clusters.byIndex(BY_UID, id)[0]?.status?.workers ?? [];
  let orphansGone: Promise<void> | undefined;
  const withoutOrphans = () =>
    (orphansGone ??= removeOrphans(clusters.list(), environment.machines).catch((error: unknown) => {
      orphansGone = undefined;
      throw error;
    }));
  const ports: ClusterPorts = {
    tenantOf: ({ metadata }) => tenants.get(metadata.namespace!),
    boundsOf: (tenant) => boundsOf(tenant, [...policies.list()]),
    offers,
    planesOf: ({ status }) => environment.planesOf(status?.provider)!,
    clusterNamed: (namespace, name) => clusters.get(`${namespace}/${name}`),
    running: ({ metadata }) => runningById.get(metadata.uid!),
    async setRunning(cluster, running) {
      const { metadata, status } = cluster;
      if (running) {
        runningById.set(metadata.uid!, running);
        environment.homes.wakes(cluster);
        const news = certificatesEvent(status, running);
        if (news) events.record(cluster, { type: 'Normal', ...news });
      } else {
        runningById.delete(metadata.uid!);
        environment.homes.forget({ metadata });
        await placements.close(metadata.uid!);
        await connections.close(metadata.uid!);
      }
    },
    connection: ({ metadata }) => connections.open(metadata.uid!, runningById.get(metadata.uid!)!),
    addOn: (offer) => catalog.find(offer),
    async keepPlacement(cluster, tenantClient) {
      const state = await placements.keep(cluster, tenantClient);
      environment.homes.keep(cluster, tenantClient, runningById.get(cluster.metadata.uid!)!);
      return state;
    },
    vpcOf: ({ metadata }) => vpcs.get(`${metadata.namespace}/${metadata.namespace}`),
    async makeVpc(vpc) {
      await hostClient
        .resource(VpcKind, vpc.metadata.namespace)
        .create(vpc)
        .catch((error: unknown) => {
          if (!isStatusError(error, 'AlreadyExists')) throw error;
        });
    },
    othersOf: ({ metadata }) => clustersOf(metadata.namespace!).filter((each) => each.metadata.name !== metadata.name),
    ensureNetwork: (vpc) => networks.ensure(vpc),
    keepWorkers: (cluster) => keepClusterWorkers(cluster, { ...environment, ports, workersOf, withoutOrphans }),
    sleepWorkers: (cluster) => sleepWorkers(cluster, environment.machines, clock),
    services: environment.services,
    servedAddresses,
    balancers: async (cluster) => (await ports.connection(cluster)).balancers(),
    async keepSecret(secret) {
      const { namespace, name } = secret.metadata;
      const existing = secrets.get(`${namespace}/${name}`);
      if (existing && isSame(existing, secret)) return;
      try {
        await hostClient.resource(Secret, namespace).apply(secret, { fieldManager: FIELD_MANAGER, force: true });
      } catch (error) {
        // The whole tenant is on its way out, and its Secrets go before its clusters do.
        if (!isStatusError(error, 'Forbidden') || !error.message.includes('being terminated')) throw error;
      }
    },
  };

  const placementReleased: Step<TenantCluster> = {
    name: ClusterCondition.PlacementReleased,
    async run(cluster) {
      await placements.release(cluster);
      return done('Released');
    },
  };

  const workersGone: Step<TenantCluster> = {
    name: ClusterCondition.WorkersGone,
    async run(cluster) {
      await removeWorkers(cluster, environment.machines);
      return done('Gone');
    },
  };

  const controlPlaneGone: Step<TenantCluster> = {
    name: ClusterCondition.ControlPlaneGone,
    async run({ metadata }) {
      await ports.setRunning({ metadata } as TenantCluster, undefined);
      for (const planes of environment.controlPlanes) await planes.remove(metadata.uid!);
      await environment.services.serve(servedAddresses());
      await hostClient
        .resource(Secret, metadata.namespace)
        .delete(kubeconfigSecretOf(metadata.name!))
        .catch((error: unknown) => {
          if (!isStatusError(error, 'NotFound')) throw error;
        });
      return done('Gone');
    },
  };

  const factsOf = (cluster: TenantCluster): ClusterFacts => {
    const { namespace, name, uid } = cluster.metadata;
    const tenant = tenants.get(namespace!);
    const bounds = tenant && ports.boundsOf(tenant);
    const all = [...clustersOf(namespace!).filter((each) => each.metadata.name !== name), cluster];
    return {
      bounds,
      clusters: all,
      violations: bounds ? violationsOf(cluster, all.slice(0, -1), bounds, offers, clock.now()) : [],
      versions: offers.controlPlanes.flatMap(({ versions }) => versions),
      running: runningById.get(uid!),
    };
  };

  const reconcile = stepReconciler<TenantCluster>({
    clock,
    read: (key) => clusters.get(key),
    resource: (namespace) => hostClient.resource(TenantClusterKind, namespace),
    fieldManager: FIELD_MANAGER,
    finalizer: CLUSTER_FINALIZER,
    steps: clusterSteps(ports),
    teardown: [placementReleased, workersGone, controlPlaneGone, networkReleased(ports)],
    summarise: (cluster, outcome) => summarise(cluster, outcome, factsOf(cluster), clock.now()),
  });
  const controller = new Controller({ ...environment, name: 'tenant-cluster', concurrency: CONCURRENCY, share: OF_ONE_TENANT, reconcile })
    .watch(clusters, (change) =>
      changesDemand(change) ? clustersOf(change.object.metadata.namespace!).map(keyOf) : [keyOf(change.object)],
    )
    .watch(policies, () => [...clusters.list()].map(keyOf))
    .watch(vpcs, ({ object }) => clustersOf(object.metadata.namespace!).filter(followsNetwork).map(keyOf))
    .watch(tenants, ({ object }) => clustersOf(object.metadata.name!).map(keyOf))
    .watch(secrets, ({ object }) => [`${object.metadata.namespace}/${object.metadata.labels![CLUSTER_LABEL]}`]);
  const stops = environment.controlPlanes.map((planes) => planes.onChange(wakeById));
  stops.push(environment.machines.onEnd(wakeOwnerOf));
  // That a version expires is in no watch.
  const expiry = nextExpiry(clock, () => [...policies.list()], wakeAll);
  stops.push(policies.onChange(() => expiry.set()));
  return {
    start: () => void controller.start(),
    async stop() {
      for (const stop of stops) stop();
      expiry.stop();
      // At once: who works on a cluster may wait for an answer from inside of it that never comes.
      await Promise.all([controller.stop(), placements.stop(), connections.stop()]);
    },
  };
}

/** One that goes may wait for its network to go. */
function followsNetwork(cluster: TenantCluster): boolean {
  return wantsNetwork(cluster) || cluster.metadata.deletionTimestamp !== undefined;
}

/** What the tenant's other clusters are measured by too. */
function changesDemand(change: Change<TenantCluster>): boolean {
  return change.type !== 'modified' || change.previous.metadata.generation !== change.object.metadata.generation;
}

function isSame(existing: KubeObject, wanted: KubeObject): boolean {
  return Object.entries(wanted.data as Record<string, string>).every(([key, value]) => existing.data?.[key] === value);
}
