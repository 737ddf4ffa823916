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
  readonly #listeners = new Set<(tenant: string) => void>();

  of(tenant: string): TenantHome | undefined {
    return this.#homes.get(tenant);
  }

  onChange(listener: (tenant: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Only the platform's label makes a cluster a home: owners make clusters too. */
  keep(cluster: TenantCluster, client: Client, { endpoint, authorityPem }: Pick<RunningControlPlane, 'endpoint' | 'authorityPem'>): void {
    const { namespace, name, labels } = cluster.metadata;
    if (cluster.spec.placement === undefined || labels?.[OWNED_BY_TENANT] !== namespace) return this.forget(cluster);
    const home = { cluster: name!, client, endpoint, authorityPem, workers: workersOf(cluster) };
    const before = this.#homes.get(namespace!);
    this.#homes.set(namespace!, home);
    if (!isSame(before, home)) this.#tell(namespace!);
  }

  /** It sleeps, or goes. */
  forget({ metadata }: Pick<TenantCluster, 'metadata'>): void {
    const tenant = metadata.namespace!;
    if (this.#homes.get(tenant)?.cluster !== metadata.name) return;
    this.#homes.delete(tenant);
    this.#tell(tenant);
  }

  #tell(tenant: string): void {
    for (const listener of this.#listeners) listener(tenant);
  }
}

function isSame(before: TenantHome | undefined, now: TenantHome): boolean {
  return before !== undefined && (Object.keys(now) as (keyof TenantHome)[]).every((key) => before[key] === now[key]);
}
