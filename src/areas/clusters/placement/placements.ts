import { RunKind } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { OWNED_BY_TENANT, PLACED_IN_LABEL, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Client } from '../../../client/client.ts';
import { Namespace } from '../../../client/kinds.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { ClusterPlacement, type PlacementState } from './cluster-placement.ts';
import { nextRunMove } from './model/run-move.ts';
import { RunWrites } from './run-writes.ts';

export interface PlacementsOptions {
  hostClient: Client;
  informers: SharedInformers;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  /** Makes the Kinds of the runs area, and the rights of its controllers, known in a cluster. */
  installRuns(tenantClient: Client): Promise<void>;
  /** By the uid of a cluster. */
  onChange(id: string): void;
}

interface Open {
  placement: ClusterPlacement;
  tenantClient: Client;
}

/** The placements of all tenants that live in clusters, by the cluster's uid. */
export class Placements {
  readonly #options: PlacementsOptions;
  readonly #open = new Map<string, Open>();
  #namespaces: Informer | undefined;
  #stopped = false;

  constructor(options: PlacementsOptions) {
    this.#options = options;
  }

  /** Only the platform says that a cluster has a placement, and of which namespaces: both carry labels that nobody else may write. */
  async keep(cluster: TenantCluster, tenantClient: Client): Promise<PlacementState | undefined> {
    const { uid, namespace: tenant, name, labels } = cluster.metadata;
    if (cluster.spec.placement === undefined || labels?.[OWNED_BY_TENANT] !== tenant) {
      await this.close(uid!);
      return undefined;
    }
    const wanted = new Set(cluster.spec.placement.namespaces ?? []);
    const namespaces = await this.#placedIn(tenant!, name!);
    const { placement } = await this.#opened(cluster, tenantClient);
    placement.setNamespaces(namespaces.filter((each) => wanted.has(each)));
    return placement.state();
  }

  /** The cluster goes: Runs that never began in it are the host's again, and of the others nobody will hear any more. */
  async release({ metadata }: TenantCluster): Promise<void> {
    await this.close(metadata.uid!);
    if (metadata.labels?.[OWNED_BY_TENANT] !== metadata.namespace) return;
    const { hostClient, clock } = this.#options;
    const cluster = metadata.name!;
    const writes = new RunWrites({ hostClient, tenantClient: hostClient, tenant: metadata.namespace!, cluster, now: () => clock.now() });
    const { items } = await hostClient.resource(RunKind).listAll({ fieldSelector: `status.placedIn=${cluster}` });
    // What others say of their Runs must not hold up this cluster.
    const ours = new Set(await this.#namespacesOf(metadata.namespace!));
    for (const run of items) {
      if (!ours.has(run.metadata.namespace!)) continue;
      let original = run;
      for (;;) {
        const move = nextRunMove(original, undefined, { cluster, placed: false });
        if (move.type === 'none') break;
        await writes.make(move, { original });
        if (move.type === 'freeOriginal') break;
        original = await hostClient.resource(RunKind, original.metadata.namespace).get(original.metadata.name!);
      }
    }
  }

  async close(id: string): Promise<void> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    await open?.placement.stop();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  async #opened({ metadata }: TenantCluster, tenantClient: Client): Promise<Open> {
    const id = metadata.uid!;
    const existing = this.#open.get(id);
    if (existing?.tenantClient === tenantClient) return existing;
    await this.close(id);
    const { installRuns, onChange, ...environment } = this.#options;
    await installRuns(tenantClient);
    if (this.#stopped) throw new Error('nothing is placed in clusters any more');
    const placement = new ClusterPlacement({
      ...environment,
      tenantClient,
      tenant: metadata.namespace!,
      cluster: metadata.name!,
      onChange: () => onChange(id),
    });
    const open = { placement, tenantClient };
    this.#open.set(id, open);
    return open;
  }

  async #namespacesOf(tenant: string): Promise<string[]> {
    const { items } = await this.#options.hostClient.resource(Namespace).listAll({ labelSelector: `${TENANT_LABEL}=${tenant}` });
    return items.filter(({ metadata }) => metadata.labels?.[TENANT_LABEL] === tenant).map(({ metadata }) => metadata.name!);
  }

  async #placedIn(tenant: string, cluster: string): Promise<string[]> {
    if (this.#namespaces === undefined) {
      this.#namespaces = this.#options.informers.get(Namespace, {
        labelSelector: PLACED_IN_LABEL,
        metadataOnly: true,
      }) as unknown as Informer;
      this.#namespaces.onChange(() => {
        for (const id of this.#open.keys()) this.#options.onChange(id);
      });
    }
    await this.#namespaces.whenSynced();
    return [...this.#namespaces.list()]
      .filter(({ metadata: { labels = {} } }) => labels[TENANT_LABEL] === tenant && labels[PLACED_IN_LABEL] === cluster)
      .map(({ metadata }) => metadata.name!);
  }
}
