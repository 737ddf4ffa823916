import { OWNED_BY_TENANT } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { workersOf } from '../../../api/tenantry.dev/v1alpha1/own-cluster.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Client } from '../../../client/client.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';

/** The cluster that a tenant lives in, while it answers. */
export interface TenantHome {
  cluster: string;
  /** With all rights there. */
  client: Client;
  endpoint: string;
  authorityPem: string;
  /** How many it is to have. */
  workers: number;
}

/** Where tenants live that have `isolation: Cluster`, for the other areas: what they have of a tenant is put there by them. */
export class TenantHomes {
  readonly #homes = new Map<string, TenantHome>();
  readonly #still = new Set<string>();
  readonly #listeners = new Set<(tenant: string) => void>();

  of(tenant: string): TenantHome | undefined {
    return this.#homes.get(tenant);
  }

  /** Its cluster sleeps, or is gone: nothing runs in it. */
  isStill(tenant: string): boolean {
    return this.#still.has(tenant);
  }

  onChange(listener: (tenant: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Only the platform's label makes a cluster a home: owners make clusters too. */
  keep(cluster: TenantCluster, client: Client, { endpoint, authorityPem }: Pick<RunningControlPlane, 'endpoint' | 'authorityPem'>): void {
    const { namespace, name } = cluster.metadata;
    if (cluster.spec.placement === undefined || !isOwn(cluster)) {
      if (this.#drop(cluster)) this.#tell(namespace!);
      return;
    }
    const home = { cluster: name!, client, endpoint, authorityPem, workers: workersOf(cluster) };
    const before = this.#homes.get(namespace!);
    this.#homes.set(namespace!, home);
    const wasStill = this.#still.delete(namespace!);
    if (wasStill || !isSame(before, home)) this.#tell(namespace!);
  }

  /** It sleeps, or goes, and its workers have ended. */
  forget(cluster: Pick<TenantCluster, 'metadata'>): void {
    const tenant = cluster.metadata.namespace!;
    const isNews = isOwn(cluster) && !this.#still.has(tenant);
    if (isNews) this.#still.add(tenant);
    if (this.#drop(cluster) || isNews) this.#tell(tenant);
  }

  /** Its workers may begin before anybody can look into it. */
  wakes(cluster: Pick<TenantCluster, 'metadata'>): void {
    const tenant = cluster.metadata.namespace!;
    if (isOwn(cluster) && this.#still.delete(tenant)) this.#tell(tenant);
  }

  #drop({ metadata }: Pick<TenantCluster, 'metadata'>): boolean {
    return this.#homes.get(metadata.namespace!)?.cluster === metadata.name && this.#homes.delete(metadata.namespace!);
  }

  #tell(tenant: string): void {
    for (const listener of this.#listeners) listener(tenant);
  }
}

function isOwn({ metadata }: Pick<TenantCluster, 'metadata'>): boolean {
  return metadata.labels?.[OWNED_BY_TENANT] === metadata.namespace;
}

function isSame(before: TenantHome | undefined, now: TenantHome): boolean {
  return before !== undefined && (Object.keys(now) as (keyof TenantHome)[]).every((key) => before[key] === now[key]);
}
