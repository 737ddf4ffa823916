import { OWNED_BY_TENANT } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantClusterKind, type TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../../../client/client.ts';
import { isContained } from '../../../../kube/is-contained.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { Informer } from '../../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { clusterCandidates } from '../../../../api/tenantry.dev/v1alpha1/own-cluster.ts';
import { untilSynced } from '../until-synced.ts';

/** The clusters that the platform made for tenants, as objects: whoever serves TenantClusters makes them real. */
export class TenantClusters {
  readonly #client: Client;
  readonly #informers: SharedInformers;
  readonly #definitions: Pick<Informer, 'get'>;
  #followed: Informer<TenantCluster> | undefined;
  #onFollow: (clusters: Informer<TenantCluster>) => void = () => {};

  constructor(client: Client, informers: SharedInformers, definitions: Pick<Informer, 'get'>) {
    this.#client = client;
    this.#informers = informers;
    this.#definitions = definitions;
  }

  /** Told the informer when it is needed for the first time: on some clusters nobody serves the kind. */
  onFollow(listener: (clusters: Informer<TenantCluster>) => void): void {
    this.#onFollow = listener;
  }

  get areServed(): boolean {
    const { plural, group } = TenantClusterKind;
    return this.#definitions.get(`${plural}.${group}`) !== undefined;
  }

  /** The one that the platform made; undefined where nobody serves clusters. */
  async of(tenant: string): Promise<TenantCluster | undefined> {
    if (!this.areServed) return undefined;
    return (await this.#synced()).get(`${tenant}/${tenant}`);
  }

  /** Makes it, or makes it what the Tenant says. @returns why it cannot be */
  async ensure(tenant: Tenant): Promise<{ cluster: TenantCluster } | { refused: string }> {
    const name = tenant.metadata.name!;
    const existing = await this.of(name);
    try {
      if (existing) return { cluster: await this.#adjust(tenant, existing) };
      return { cluster: await this.#create(name, clusterCandidates(tenant)) };
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists'))
        return { refused: `the tenant has a cluster "${name}" that its owners made, and that is the name of its own; delete that one` };
      if (isStatusError(error, 'Forbidden') || isStatusError(error, 'Invalid') || isStatusError(error, 'BadRequest'))
        return { refused: error.message };
      throw error;
    }
  }

  /** Which namespaces' Runtimes and Runs work in it. */
  async place({ metadata, spec }: TenantCluster, namespaces: readonly string[]): Promise<TenantCluster | undefined> {
    const wanted = [...namespaces].sort();
    if (JSON.stringify(spec.placement?.namespaces) === JSON.stringify(wanted)) return undefined;
    const patch = { spec: { placement: { namespaces: wanted } } };
    return this.#client.resource(TenantClusterKind, metadata.namespace).patch(metadata.name!, { type: 'merge', patch });
  }

  async withoutWorkers({ metadata }: TenantCluster): Promise<void> {
    const patch = { spec: { nodePools: [] } };
    await this.#client.resource(TenantClusterKind, metadata.namespace).patch(metadata.name!, { type: 'merge', patch });
  }

  async remove({ metadata }: TenantCluster): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    try {
      await this.#client.resource(TenantClusterKind, metadata.namespace).delete(metadata.name!, { preconditions: { uid: metadata.uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  /** The first that is let in. */
  async #create(tenant: string, candidates: readonly TenantCluster['spec'][]): Promise<TenantCluster> {
    const resource = this.#client.resource(TenantClusterKind, tenant);
    let refusal: unknown;
    for (const spec of candidates) {
      try {
        return await resource.create({ metadata: { name: tenant, labels: { [OWNED_BY_TENANT]: tenant } }, spec });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  async #adjust(tenant: Tenant, existing: TenantCluster): Promise<TenantCluster> {
    const { name, namespace, deletionTimestamp } = existing.metadata;
    if (deletionTimestamp !== undefined || tenant.spec.cluster === undefined) return existing;
    const [{ nodePools, ...rest }] = clusterCandidates(tenant);
    // How many workers it has by itself was found out when it was made.
    const wanted = tenant.spec.cluster.nodePools === undefined ? rest : { ...rest, nodePools };
    if (isContained(wanted, existing.spec)) return existing;
    return this.#client.resource(TenantClusterKind, namespace).patch(name!, { type: 'merge', patch: { spec: wanted } });
  }

  async #synced(): Promise<Informer<TenantCluster>> {
    if (this.#followed === undefined) {
      this.#followed = this.#informers.get(TenantClusterKind, { labelSelector: OWNED_BY_TENANT });
      this.#onFollow(this.#followed);
    }
    await untilSynced(this.#followed as unknown as Informer, this.#client.clock);
    return this.#followed;
  }
}

function isRefusal(error: unknown): boolean {
  return isStatusError(error, 'Forbidden') || isStatusError(error, 'Invalid') || isStatusError(error, 'BadRequest');
}
