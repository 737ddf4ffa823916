import { existsSync, writeFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { calculateUsage, trackedResources } from '../engine/apiserver/admission/quota/usage.ts';
import { authenticationConfigMap } from '../engine/apiserver/aggregator/authentication-config-map.ts';
import type { Aggregator } from '../engine/apiserver/aggregator/aggregator.ts';
import { ensureFields, ensureObjects, kubernetesEndpoints, withResources } from '../engine/apiserver/bootstrap/system-objects.ts';
import { bootstrapObjects } from '../engine/apiserver/builtin/index.ts';
import { KUBERNETES_SERVICE_ADDRESS } from '../engine/apiserver/builtin/bootstrap.ts';
import { ensureBootstrapPolicy } from '../engine/apiserver/auth/bootstrap/bootstrap-policy.ts';
import { TokenSecrets } from '../engine/apiserver/auth/token-secrets.ts';
import { Listener } from '../engine/apiserver/http/listener.ts';
import { compactRegularly } from '../engine/apiserver/registry/compaction.ts';
import { inProcessHandler } from '../engine/apiserver/in-process.ts';
import type { ApiServer, ServerFoundation } from '../engine/apiserver/server.ts';
import { openStore, type DurableStore } from '../engine/store/durable-store.ts';
import { createClient, type Client } from '../client/client.ts';
import { createInMemoryTransport } from '../client/in-memory/in-memory-transport.ts';
import { startControllers } from '../engine/controllers/start-controllers.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import { nodeRights } from '../engine/node/registration/node-rights.ts';
import type { KubeObject } from '../kube/object.ts';
import { orAborted } from '../lib/abort.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { ExporterSettings } from '../lib/tracing/exporter-settings.ts';
import { FRONT_PROXY_COMMON_NAME, ensurePki, type Pki } from '../lib/pki/ensure-pki.ts';
import { kubeconfigText } from '../lib/pki/kubeconfig.ts';
import { ClustersOnDemand, type ClusterSettings } from './clusters-on-demand.ts';
import { PluginAdmission } from './plugin-admission.ts';
import { PLUGIN_USERS } from './plugin-identities.ts';
import { gatewayOnDemand } from './gateway-on-demand.ts';
import type { GatewaySettings } from './gateway-supervisor.ts';
import { pluginsOnDemand } from './plugins-on-demand.ts';
import { RefusedRequests } from './refused-requests.ts';
import { runsOnDemand } from './runs-on-demand.ts';
import { TenancyOnDemand } from './tenancy-on-demand.ts';
import { ensureAreas } from './areas.ts';
import { assembleServer, type AssembledServer } from './assemble-server.ts';
import { archive } from './backup-archive.ts';
import { kubeconfigPath } from './data-directory.ts';
import type { NodeSettings, NodeSupervisor } from './node-supervisor.ts';
import { sealingWith } from './sealing.ts';

export interface EngineOptions {
  data: string;
  address: string;
  port: number;
  /** When the port is taken, listen on a free one instead of failing. */
  fallBackToFreePort: boolean;
  version: string;
  /** Runs Pods on this machine; absent: there is no node. */
  node?: NodeSettings;
  /** The definitions of the areas' Kinds; absent: the engine is a plain Kubernetes. */
  areas?: () => KubeObject[];
  /** Without areas: the controllers of Runs start with the first of them; whoever brings the Kinds brings their rights. */
  runs?: boolean;
  /** Somebody else makes and renews the keys, and hands out credentials; absent: they are in the data directory, with a kubeconfig. */
  keys?: { folder: string; pki: Pki };
  /** How large its store may become; absent: as large as it likes. */
  maxStoreBytes?: number;
  /** Sees the store before anything is written. */
  observeStore?: (store: DurableStore) => void;
  /** Of tenants' clusters; absent: as this machine can. */
  clusters?: ClusterSettings;
  /** The way to plugins, with the first of them; absent: there is none. */
  gateway?: GatewaySettings;
  /** Where traces go; absent: nowhere. */
  traces?: ExporterSettings;
  log: Log;
}

export interface Engine {
  url: string;
  kubeconfig: string;
  auditPath: string;
  startMs: number;
  isNew: boolean;
  /** How many objects were found at the start. */
  objects: number;
  /** The port that was wanted and taken. */
  portTaken?: number;
  /** The name of its node. */
  node?: string;
  server: ApiServer;
  /** From now on with these certificates; connections that are open stay so. */
  replaceCertificates(pki: Pki): void;
  /** All objects, and the keys. */
  backup(): AsyncIterable<Uint8Array>;
  stop(): Promise<void>;
}

/** A webhook that does not answer may hold one for longer. */
const LAST_REQUESTS_MS = 5000;

/** The one function that makes an embedded engine: store, API server, controllers, in this process. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const started = performance.now();
  const { data, log } = options;
  const isNew = !existsSync(join(data, 'store'));
  const embeddedNode = options.node && import('./embedded-node.ts');
  const keyFolder = options.keys?.folder ?? join(data, 'pki');
  const pki =
    options.keys?.pki ?? (await ensurePki(keyFolder, { addresses: [options.address, KUBERNETES_SERVICE_ADDRESS], clock: realClock }));
  const store = await openStore(join(data, 'store'), {
    sealing: sealingWith(pki.encryptionKeys),
  });
  options.observeStore?.(store);
  const closers: (() => Promise<void> | void)[] = [() => store.close(), compactRegularly(store)];
  const stop = async () => {
    const failures: unknown[] = [];
    // Whatever does not end as it should, the store is closed and its lock released.
    for (const close of closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const objects = store.count('');
    const auditPath = join(data, 'audit.log');
    const tenancy = options.areas && new TenancyOnDemand(log, store.count('hnc.x-k8s.io/') > 0);
    const pluginAdmission = options.areas && new PluginAdmission(log);
    const clusters = options.areas && new ClustersOnDemand({ data, version: options.version, log, ...options.clusters });
    const refusals = new RefusedRequests();
    const assembled = assembleServer({
      version: options.version,
      url: `https://${options.address}:${options.port}`,
      log,
      pki,
      store,
      auditPath,
      keyFolder,
      servesBackup: options.keys === undefined,
      onlyTunnels: options.keys !== undefined,
      inProcess: (service) =>
        pluginAdmission?.reviewHandler(service) ?? clusters?.reviewHandler(service) ?? tenancy?.reviewHandler(service),
      widerQuota: () => tenancy?.quotaGuard,
      ...(options.areas && PLUGIN_USERS),
      onAudited: (record) => refusals.record(record),
    });
    const { server, foundation, aggregator, resourceMetrics, definitions } = assembled;
    closers.push(
      () => assembled.audit.close(),
      () => aggregator.stop(),
      () => resourceMetrics.stop(),
      // Nobody is let in any more; what is being written gets to the store before it is closed.
      () => orAborted(server.whenIdle(), AbortSignal.timeout(LAST_REQUESTS_MS)).catch(() => {}),
    );
    definitions.start();
    // All that clients may count on is there before the first of them is let in.
    const clientAs = (own: { name: string; groups: string[] }) => clientOf(server, own);
    const [node] = await Promise.all([
      embeddedNode?.then(({ prepareNode }) => prepareNode(options, options.node!, foundation, pki, clientAs)),
      bootstrap(foundation, pki, options.port || 443),
      // Those of a tenant's cluster are the platform's to give.
      options.keys === undefined && ensureNodeRights(foundation),
      options.areas && ensureAreas(foundation, options.areas()),
    ]);
    closers.push(registerApiServices(foundation, aggregator, log));

    const { listener, port, portTaken } = await listen(options, pki, assembled, log);
    closers.push(() => {
      // Ends the watches, which would otherwise keep their connections until the end.
      server.close();
      assembled.nodeProxy.close();
      assembled.nodeTunnels.close();
      return listener.close();
    });
    const url = `https://${options.address.includes(':') ? `[${options.address}]` : options.address}:${port}`;
    await announce(foundation, options.address, port);
    // Not before: one that is full starts all the same, so that something can be deleted.
    if (options.maxStoreBytes !== undefined) store.limitLiveBytes(options.maxStoreBytes);
    if (options.keys === undefined) writeKubeconfig(data, url, pki);
    aggregator.start();
    resourceMetrics.start();
    new TokenSecrets({
      writer: foundation.objects,
      issuer: assembled.identity.issuer,
      rootCa: pki.authority.certificatePem,
      onError: (error) => log.error('cannot fill a token Secret', { error }),
    }).start();
    pluginAdmission?.connect(clientAs);
    const controllers = startBuiltInControllers(server, foundation, pki, { ...options, url }, node, { tenancy, clusters, refusals });
    const nodeStarted = node
      ?.start(url, (entrance) => listener.enterBy(entrance))
      .catch((error: unknown) => log.error('cannot start the node', { error }));
    closers.push(
      () => pluginAdmission?.stop(),
      () => clusters?.stop(),
      () => controllers.stop(),
      () => nodeStarted?.then(() => node!.stop()),
    );
    return {
      url,
      node: node?.name,
      kubeconfig: kubeconfigPath(data),
      auditPath,
      startMs: performance.now() - started,
      isNew,
      objects,
      portTaken,
      server,
      replaceCertificates(renewed) {
        Object.assign(pki, renewed);
        listener.replaceCertificate(pki.serving.certificatePem, pki.serving.keyPem);
      },
      backup: () => archive(store, keyFolder),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bootstrap({ objects, core }: ServerFoundation, pki: Pki, port: number): Promise<void> {
  const [namespaces, rest] = partition(
    withResources(core.catalog, bootstrapObjects({ port })),
    ({ object }) => object.kind === 'Namespace',
  );
  await ensureObjects(objects, namespaces);
  const trust = authenticationConfigMap({
    clientCa: pki.authority.certificatePem,
    requestHeader: { ca: pki.frontProxyAuthority.certificatePem, allowedNames: [FRONT_PROXY_COMMON_NAME] },
  });
  await Promise.all([
    ensureBootstrapPolicy(objects),
    ensureObjects(objects, rest),
    ensureFields(objects, { resource: { group: '', resource: 'configmaps' }, object: trust }, ['data']),
  ]);
}

/** Nodes may join at any time. */
async function ensureNodeRights({ objects, core }: ServerFoundation): Promise<void> {
  const [role, binding] = withResources(core.catalog, nodeRights());
  await Promise.all([ensureFields(objects, role, ['rules']), ensureObjects(objects, [binding])]);
}

function partition<T>(items: T[], belongs: (item: T) => boolean): [T[], T[]] {
  return [items.filter(belongs), items.filter((item) => !belongs(item))];
}

/** An APIService for every version that is served, custom ones included, as kube-apiserver registers them. */
function registerApiServices({ core }: ServerFoundation, aggregator: Aggregator, log: Log): () => void {
  const own = new Set([...core.catalog.all()].filter((resource) => resource.strategicMerge !== false).map(groupVersionKey));
  const register = () => {
    const versions = new Map(
      [...core.catalog.all()].map((resource) => [groupVersionKey(resource), { group: resource.group, version: resource.version }]),
    );
    const builtIn = [...versions].filter(([key]) => own.has(key)).map(([, version]) => version);
    const custom = [...versions].filter(([key]) => !own.has(key)).map(([, version]) => version);
    aggregator.registerLocal(builtIn, custom).catch((error: unknown) => log.error('cannot register API services', { error }));
  };
  register();
  return core.catalog.onChange(register);
}

function groupVersionKey({ group, version }: { group: string; version: string }): string {
  return `${group}/${version}`;
}

function clientOf(server: ApiServer, user: { name: string; groups: string[] }): Client {
  return createClient(createInMemoryTransport(inProcessHandler(server, user)));
}

/** They come in through the same chain as everybody else, as users of their own. */
function startBuiltInControllers(
  server: ApiServer,
  { metrics }: ServerFoundation,
  pki: Pki,
  { log, traces, data, gateway, address, url, runs, areas: definitions }: EngineOptions & { url: string },
  node: NodeSupervisor | undefined,
  { tenancy, clusters, refusals }: { tenancy?: TenancyOnDemand; clusters?: ClustersOnDemand; refusals: RefusedRequests },
) {
  const user = { name: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] };
  const scheduler: OnDemand = {
    // Nodes alone give it nothing to do.
    resources: ['/pods'],
    async load() {
      const { startScheduler } = await import('../engine/scheduler/start-scheduler.ts');
      const schedulerUser = { name: 'system:kube-scheduler', groups: ['system:authenticated'] };
      const client = clientOf(server, schedulerUser);
      return (environment) => startScheduler({ ...environment, client });
    },
  };
  const agent: OnDemand = {
    resources: ['/pods'],
    load: () => Promise.resolve(() => (node?.need(), { stop: () => Promise.resolve() })),
  };
  const clientAs = (own: { name: string; groups: string[] }) => clientOf(server, own);
  const areas =
    tenancy && clusters
      ? [
          runsOnDemand(clientAs, node?.mode, traces),
          tenancy.onDemand(clientAs, metrics),
          pluginsOnDemand(clientAs, data, node, (told) => refusals.follow(told), clusters.homes),
          clusters.onDemand(clientAs, metrics, definitions!),
          ...(gateway ? [gatewayOnDemand(gateway, { data, url, address, pki, client: clientOf(server, user), node })] : []),
        ]
      : runs
        ? [runsOnDemand(clientAs, undefined, traces)]
        : [];
  return startControllers({
    onDemand: [scheduler, ...(node ? [agent] : []), ...areas],
    client: clientOf(server, user),
    clock: realClock,
    log,
    metrics,
    rootCa: pki.authority.certificatePem,
    authority: () => pki.authority,
    quota: { calculateUsage, trackedResources },
  });
}

async function listen(options: EngineOptions, pki: Pki, { server, aggregator, nodeProxy, nodeTunnels }: AssembledServer, log: Log) {
  const make = (port: number) =>
    new Listener({
      address: options.address,
      port,
      certificate: pki.serving.certificatePem,
      key: pki.serving.keyPem,
      authorities: { client: pki.authority.certificatePem, frontProxy: pki.frontProxyAuthority.certificatePem },
      handle: (incoming) => server.handle(incoming),
      tunnel: (credentials, stream) => nodeTunnels.accept(credentials, stream),
      upgrade: async (incoming, request, socket, head) => {
        await server.upgrade(incoming, async (admitted) => {
          const target = aggregator.targetFor(admitted.info.path);
          if (target === undefined) return nodeProxy.upgrade(admitted, request, socket, head);
          await aggregator.upgrade(request, socket, head, admitted.user, target);
          return 101;
        });
      },
      onError: (error) => log.warn('connection failed', { error }),
    });
  try {
    const listener = make(options.port);
    return { listener, port: await listener.listen() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (!options.fallBackToFreePort) {
      throw new Error(
        `Cannot listen on ${options.address}:${options.port}: another program does; choose another --port, or 0 for a free one`,
        { cause: error },
      );
    }
    const listener = make(0);
    return { listener, port: await listener.listen(), portTaken: options.port };
  }
}

/** Endpoints may not be loopback addresses: then the `kubernetes` Service has none. */
async function announce({ objects }: ServerFoundation, address: string, port: number): Promise<void> {
  if (address === '::1' || address.startsWith('127.')) return;
  await ensureFields(objects, kubernetesEndpoints(address, port), ['endpoints', 'ports']);
}

function writeKubeconfig(data: string, url: string, pki: Pki): void {
  const path = kubeconfigPath(data);
  const text = kubeconfigText({
    server: url,
    authorityPem: pki.authority.certificatePem,
    credentials: pki.admin,
  });
  writeFileSync(`${path}.tmp`, text, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}
