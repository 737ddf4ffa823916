import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';

/** A write that was let in is seen long before, or was refused by somebody else. */
const REMEMBERED_MS = 5000;

/** The clusters of a namespace, with those that were let in and are not seen yet: no two get the same room. */
export class JustAdmitted {
  readonly #seen: Informer<TenantCluster>;
  readonly #clock: Clock;
  readonly #admitted = new Map<string, { cluster: TenantCluster; until: number }>();

  constructor(seen: Informer<TenantCluster>, clock: Clock) {
    this.#seen = seen;
    this.#clock = clock;
    seen.onChange(({ object }) => this.#admitted.delete(keyOf(object)));
  }

  add(cluster: TenantCluster): void {
    if (cluster.metadata.name === undefined) return;
    this.#admitted.set(keyOf(cluster), { cluster, until: this.#clock.monotonic() + REMEMBERED_MS });
  }

  of(namespace: string): TenantCluster[] {
    const now = this.#clock.monotonic();
    const clusters = new Map<string, TenantCluster>();
    for (const cluster of this.#seen.list()) if (cluster.metadata.namespace === namespace) clusters.set(keyOf(cluster), cluster);
    for (const [key, { cluster, until }] of this.#admitted) {
      if (until <= now) this.#admitted.delete(key);
      else if (cluster.metadata.namespace === namespace) clusters.set(key, cluster);
    }
    return [...clusters.values()];
  }
}

function keyOf({ metadata }: TenantCluster): string {
  return `${metadata.namespace}/${metadata.name}`;
}
