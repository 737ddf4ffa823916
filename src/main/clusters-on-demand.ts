import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLUSTER_RULES } from '../areas/clusters/admission/cluster-rules.ts';
import { CLUSTERS_GROUPS, CLUSTERS_USER } from '../areas/clusters/clusters-rights.ts';
import type { ClustersEnvironment } from '../areas/clusters/clusters-environment.ts';
import type { NetworkChoice, Wire } from '../areas/clusters/network/open-networks.ts';
import type { Client } from '../client/client.ts';
import type { ReviewHandler, ServiceReference } from '../engine/apiserver/admission/webhook/call.ts';
import { KUBERNETES_SERVICE_ADDRESS } from '../engine/apiserver/builtin/bootstrap.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import { builtProgram } from '../lib/built-program.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import { answerReview, type AdmissionHandler } from '../runtime/admission/review.ts';
import type { KubeObject } from '../kube/object.ts';
import { ADMISSION_SERVICE } from '../runtime/admission/webhook-rules.ts';
import { KUBERNETES_VERSION } from './kubernetes-version.ts';

type ClientAs = (user: { name: string; groups: string[] }) => Client;

interface Connection {
  clientAs: ClientAs;
  metrics: MetricsRegistry;
  /** Of the areas' Kinds. */
  definitions: () => KubeObject[];
}

/** What the operator says about tenants' clusters. */
export interface ClusterSettings {
  /** Who makes their networks. */
  network?: NetworkChoice;
  /** Where their tagged segments are. */
  wire?: Wire;
  /** Ranges that tenants are reached at from outside of their networks. */
  external?: readonly string[];
}

interface Options extends ClusterSettings {
  data: string;
  version: string;
  log: Log;
}

interface Opened {
  environment: ClustersEnvironment;
  handlers: Record<string, AdmissionHandler>;
}

/** The clusters area within the engine: it starts with the first TenantCluster, or the first question that admission has about one. */
export class ClustersOnDemand {
  readonly #options: Options;
  #connect!: (connection: Connection) => void;
  /** Requests may come before the engine's own clients are there. */
  readonly #connection = new Promise<Connection>((resolve) => (this.#connect = resolve));
  #open: Promise<Opened> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The function behind the service that the webhooks are registered with. */
  reviewHandler({ namespace, name, path }: ServiceReference): ReviewHandler | undefined {
    if (namespace !== ADMISSION_SERVICE.namespace || name !== ADMISSION_SERVICE.name) return undefined;
    if (!CLUSTER_RULES.some((rule) => rule.path === path)) return undefined;
    return async (review, signal) => answerReview((await this.#opened()).handlers[path], review, signal) as Promise<never>;
  }

  onDemand(clientAs: ClientAs, metrics: MetricsRegistry, definitions: () => KubeObject[]): OnDemand {
    this.#connect({ clientAs, metrics, definitions });
    return {
      resources: ['tenantry.dev/tenantclusters', 'tenantry.dev/vpcs'],
      load: async () => {
        const [{ environment }, { startClusterControllers }] = await Promise.all([
          this.#opened(),
          import('../areas/clusters/start-clusters.ts'),
        ]);
        return () => startClusterControllers(environment);
      },
    };
  }

  async stop(): Promise<void> {
    const opened = await this.#open?.catch(() => undefined);
    await opened?.environment.informers.stop();
  }

  #opened(): Promise<Opened> {
    // A failure is not kept: the next question tries again.
    return (this.#open ??= this.#load().catch((error: unknown) => {
      this.#open = undefined;
      throw error;
    }));
  }

  async #load(): Promise<Opened> {
    const { data, version, log, network: choice = 'auto', wire, external } = this.#options;
    const [{ openClusters, clusterAdmission }, { EmbeddedControlPlanes }, { WireguardGateways }, { clientAs, metrics, definitions }] =
      await Promise.all([
        import('../areas/clusters/start-clusters.ts'),
        import('../areas/clusters/control-plane/embedded/embedded-control-planes.ts'),
        import('../areas/clusters/access/vpn/wireguard-gateways.ts'),
        this.#connection,
      ]);
    const embedded = new EmbeddedControlPlanes({
      root: join(data, 'clusters'),
      program: controlPlaneProgram(),
      productVersion: version,
      address: '127.0.0.1',
      serviceAddress: KUBERNETES_SERVICE_ADDRESS,
      clock: realClock,
      log,
    });
    const environment = openClusters({
      hostClient: clientAs({ name: CLUSTERS_USER, groups: CLUSTERS_GROUPS }),
      clock: realClock,
      log,
      metrics,
      async installRuns(tenantClient) {
        const { installRuns } = await import('./runs-in-clusters.ts');
        await installRuns(tenantClient, definitions());
      },
      controlPlanes: [embedded],
      offers: {
        controlPlanes: [{ provider: 'embedded', versions: [KUBERNETES_VERSION], maxReplicas: 1 }],
        machines: [],
      },
      gateways: new WireguardGateways({ folder: join(data, 'clusters/vpn'), clock: realClock }),
      openNetworks: async () => {
        const { openNetworks } = await import('../areas/clusters/network/open-networks.ts');
        return openNetworks({ choice, folder: join(data, 'clusters'), clock: realClock, wire, external });
      },
    });
    return { environment, handlers: await clusterAdmission(environment) };
  }
}

function controlPlaneProgram(): string {
  const file = 'tenant-control-plane.js';
  const path = builtProgram(file) ?? fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
  if (existsSync(path)) return path;
  throw new Error('Cannot start control planes: their program tenant-control-plane.js is not beside this one; build the product first');
}
