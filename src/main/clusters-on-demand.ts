import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLUSTER_RULES } from '../areas/clusters/admission/cluster-rules.ts';
import { TenantHomes } from '../areas/clusters/placement/tenant-homes.ts';
import { CLUSTERS_GROUPS, CLUSTERS_USER } from '../areas/clusters/clusters-rights.ts';
import type { ClustersEnvironment } from '../areas/clusters/clusters-environment.ts';
import type { NetworkChoice, Wire } from '../areas/clusters/network/open-networks.ts';
import type { ControlPlanes } from '../areas/clusters/control-plane/control-planes.ts';
import type { FoundPrograms, ProgramSet } from '../areas/clusters/control-plane/kubernetes/find-programs.ts';
import type { KubernetesOptions } from '../areas/clusters/control-plane/kubernetes/kubernetes-control-planes.ts';
import { MACHINE_PROVIDERS, type ControlPlaneProvider } from '../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Client } from '../client/client.ts';
import type { ReviewHandler, ServiceReference } from '../engine/apiserver/admission/webhook/call.ts';
import { KUBERNETES_SERVICE_ADDRESS } from '../engine/apiserver/builtin/bootstrap.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import { builtProgram } from '../lib/built-program.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import { ENVIRONMENT } from '../lib/run-command.ts';
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
  /** Where the programs of Kubernetes control planes are; absent: on the search path. */
  kubernetesPrograms?: string;
  /** Of workers; absent: the one that the distribution has installed. */
  workerKernel?: string;
  /** Who makes their networks. */
  network?: NetworkChoice;
  /** Where their tagged segments are. */
  wire?: Wire;
  /** Ranges that tenants are reached at from outside of their networks. */
  external?: readonly string[];
  /** The most that one backup may have. */
  maxBackupBytes?: number;
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
  /** Where tenants live that have a cluster of their own. */
  readonly homes = new TenantHomes();
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
    const { data, version, log, network: choice = 'auto', wire, external, workerKernel, maxBackupBytes } = this.#options;
    const [{ openClusters, clusterAdmission }, { EmbeddedControlPlanes }, { WireguardGateways }, { clientAs, metrics, definitions }] =
      await Promise.all([
        import('../areas/clusters/start-clusters.ts'),
        import('../areas/clusters/control-plane/embedded/embedded-control-planes.ts'),
        import('../areas/clusters/access/vpn/wireguard-gateways.ts'),
        this.#connection,
      ]);
    const root = join(data, 'clusters');
    const { planeCgroups } = await import('./plane-cgroups.ts');
    const groups = await planeCgroups(root, log);
    const common = { root, productVersion: version, address: '127.0.0.1', groups, maxBackupBytes, clock: realClock, log };
    const program = programOf('tenant-control-plane.js');
    const embedded = new EmbeddedControlPlanes({ ...common, program, serviceAddress: KUBERNETES_SERVICE_ADDRESS });
    const { sets, missing } = await this.#kubernetesPrograms();
    const kubernetes = await this.#kubernetesPlanes(common, sets);
    const environment = openClusters({
      hostClient: clientAs({ name: CLUSTERS_USER, groups: CLUSTERS_GROUPS }),
      clock: realClock,
      log,
      metrics,
      async installRuns(tenantClient) {
        const { installRuns } = await import('./runs-in-clusters.ts');
        await installRuns(tenantClient, definitions());
      },
      homes: this.homes,
      controlPlanes: [embedded, ...kubernetes],
      offers: {
        controlPlanes: [
          { provider: 'embedded', versions: [KUBERNETES_VERSION], maxReplicas: 1 },
          { provider: 'kubernetes', versions: sets.map((set) => set.version), maxReplicas: 3, missing },
        ],
      },
      machineKinds: MACHINE_PROVIDERS.map((name) => ({ name, isolation: name === 'gvisor' ? 'Sandbox' : 'Kernel' })),
      openMachines: async () => (await import('./worker-image.ts')).hostMachines({ data, kernel: workerKernel, log }),
      services: new (await import('./tenant-services-supervisor.ts')).TenantServicesSupervisor({ data, log }),
      gateways: new WireguardGateways({ folder: join(data, 'clusters/vpn'), clock: realClock }),
      openNetworks: async () => {
        const { openNetworks } = await import('../areas/clusters/network/open-networks.ts');
        return openNetworks({ choice, folder: join(data, 'clusters'), clock: realClock, wire, external });
      },
    });
    return { environment, handlers: await clusterAdmission(environment) };
  }

  async #kubernetesPrograms(): Promise<FoundPrograms> {
    const { findPrograms } = await import('../areas/clusters/control-plane/kubernetes/find-programs.ts');
    return findPrograms(this.#options.kubernetesPrograms, ENVIRONMENT.PATH);
  }

  async #kubernetesPlanes(common: Omit<KubernetesOptions, 'program' | 'sets' | 'network'>, sets: ProgramSet[]): Promise<ControlPlanes[]> {
    // Those that are there can be put to sleep and deleted, also when their programs are gone.
    if (sets.length === 0 && !(await hasRecords(common.root, 'kubernetes'))) return [];
    const { openKubernetesPlanes } = await import('../areas/clusters/control-plane/kubernetes/kubernetes-control-planes.ts');
    return [await openKubernetesPlanes({ ...common, sets, program: programOf('kubernetes-control-plane.js') })];
  }
}

async function hasRecords(root: string, provider: ControlPlaneProvider): Promise<boolean> {
  const { ClusterFolders } = await import('../areas/clusters/control-plane/process/cluster-folder.ts');
  return [...(await new ClusterFolders(root).records()).values()].some((record) => record.provider === provider);
}

function programOf(file: string): string {
  const path = builtProgram(file) ?? fileURLToPath(new URL(`../../dist/${file}`, import.meta.url));
  if (existsSync(path)) return path;
  throw new Error(`Cannot start control planes: their program ${file} is not beside this one; build the product first`);
}
