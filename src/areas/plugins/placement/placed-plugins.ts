import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { whyOnHost } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-place.ts';
import { PLACED_IN_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Target } from '../installation/model/target.ts';
import { InsideCluster } from './inside-cluster.ts';
import { choosePlace, type Place } from './model/choose-place.ts';
import { NO_HOMES, type TenantHomes } from './tenant-home.ts';

export interface PlacedPluginsOptions {
  homes?: TenantHomes;
  clock: Clock;
  /** Of the host, by their metadata. */
  namespaces: Pick<Informer, 'get'>;
}

/** Where plugins have to run, and what has become of those in the clusters of tenants. A cluster is looked into when somebody asks. */
export class PlacedPlugins {
  readonly homes: TenantHomes;
  readonly #options: PlacedPluginsOptions;
  readonly #open = new Map<string, InsideCluster>();
  readonly #listeners = new Set<(tenant: string, namespace?: string) => void>();
  #isStopped = false;

  constructor(options: PlacedPluginsOptions) {
    this.#options = options;
    this.homes = options.homes ?? NO_HOMES;
    this.homes.onChange((tenant) => {
      const open = this.#open.get(tenant);
      if (open && open.home.client !== this.homes.of(tenant)?.client) this.#close(tenant, open);
    });
  }

  onChange(listener: (tenant: string, namespace?: string) => void): void {
    this.#listeners.add(listener);
  }

  /** The cluster that a tenant lives in, by the label that only the platform writes. */
  tenantIn(tenant: string): string | undefined {
    return this.#options.namespaces.get(tenant)?.metadata.labels?.[PLACED_IN_LABEL];
  }

  /** Undefined: nobody lives in it, or it does not answer. */
  inside(tenant: string): InsideCluster | undefined {
    const home = this.homes.of(tenant);
    const open = this.#open.get(tenant);
    if (open && open.home.client === home?.client) {
      Object.assign(open.home, home);
      return open;
    }
    if (open) this.#close(tenant, open);
    if (home === undefined || this.#isStopped) return undefined;
    const wake = (namespace?: string) => {
      for (const listener of this.#listeners) listener(tenant, namespace);
    };
    const opened = new InsideCluster({ tenant, home: { ...home }, clock: this.#options.clock, wake });
    this.#open.set(tenant, opened);
    return opened;
  }

  /** `versions`: those at work and the wanted one. */
  placeOf({ metadata, status }: PluginInstallation, versions: readonly Target[]): Place {
    const tenant = metadata.namespace!;
    const tenantIn = this.tenantIn(tenant);
    const servedIn = status?.placement?.cluster;
    const inside = tenantIn === undefined ? undefined : this.inside(tenant);
    return choosePlace({
      tenantIn,
      servedIn,
      isServed: (status?.gateway?.routes ?? []).length > 0,
      unable: versions.map(({ manifest }) => whyOnHost(manifest)).find((why) => why !== undefined),
      surplus: inside?.surplus,
      ...(inside?.isKnown ? { home: { cluster: inside.home.cluster, hasWorkers: inside.hasWorkers } } : {}),
    });
  }

  /** Those in the cluster; undefined while it cannot be known what is there. */
  deployments(tenant: string, namespace: string): readonly KubeObject[] | undefined {
    const inside = this.inside(tenant);
    if (inside === undefined) return this.homes.isStill(tenant) ? [] : undefined;
    return inside.isKnown && inside.surplus === undefined ? inside.deployments(namespace) : undefined;
  }

  /** In the cluster; undefined where it cannot be known. */
  deployment(tenant: string, namespace: string, name: string): KubeObject | undefined {
    return this.inside(tenant)?.deployment(namespace, name);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#open.values()].map((inside) => inside.stop()));
  }

  #close(tenant: string, inside: InsideCluster): void {
    this.#open.delete(tenant);
    void inside.stop().catch(() => {});
  }
}
