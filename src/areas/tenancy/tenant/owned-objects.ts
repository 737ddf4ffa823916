import { HierarchicalResourceQuotaKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { INHERITED_FROM } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { OWNED_BY_TENANT } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { ClusterRole, ClusterRoleBinding, LimitRange, NetworkPolicy, RoleBinding } from '../../../client/kinds.ts';
import { isContained } from '../../../kube/is-contained.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { inParallel } from './in-parallel.ts';
import { untilSynced } from './until-synced.ts';

export const FIELD_MANAGER = 'tenantry-tenancy';

const RIGHTS: readonly Kind[] = [RoleBinding, ClusterRoleBinding, ClusterRole];

/** Copies down the tree carry the label too, and are not ours to look at. */
const SELECTOR = `${OWNED_BY_TENANT},!${INHERITED_FROM}`;

/** The objects that the controller keeps for its tenants. What is as it should be is not written. */
export class OwnedObjects {
  readonly #client: Client;
  readonly #informers: SharedInformers;
  readonly #followed = new Map<string, { kind: Kind; informer: Informer }>();
  readonly #listeners = new Map<string, (informer: Informer) => void>();

  constructor(client: Client, informers: SharedInformers) {
    this.#client = client;
    this.#informers = informers;
    for (const kind of [...RIGHTS, LimitRange, NetworkPolicy, HierarchicalResourceQuotaKind]) this.#follow(kind);
  }

  get informers(): Iterable<Informer> {
    return Array.from(this.#followed.values(), ({ informer }) => informer);
  }

  /** Kinds that only some clusters have are followed from their first object on. */
  onFollow(kind: Kind, listener: (informer: Informer) => void): void {
    this.#listeners.set(kind.kind, listener);
  }

  of(kind: Kind, tenant: string): KubeObject[] {
    return this.#followed.get(kind.kind)?.informer.byIndex('tenant', tenant) ?? [];
  }

  /** Nobody has rights in the tenant any more. */
  async removeRights(tenant: string): Promise<void> {
    for (const kind of RIGHTS) await this.keep(kind, tenant, []);
  }

  async removeAll(tenant: string): Promise<void> {
    for (const { kind } of this.#followed.values()) await this.keep(kind, tenant, []);
  }

  /** Makes the tenant's objects of the kind these, and no others. */
  async keep(kind: Kind, tenant: string, wanted: readonly KubeObject[]): Promise<void> {
    await untilSynced(this.#follow(kind), this.#client.clock);
    const existing = new Map(this.of(kind, tenant).map((object) => [keyOf(object), object]));
    const keys = new Set(wanted.map(keyOf));
    await inParallel(
      wanted.filter((object) => !isContained(object, existing.get(keyOf(object)))),
      (object) => this.#write(kind, object, existing.get(keyOf(object))),
    );
    await inParallel(
      [...existing].filter(([key]) => !keys.has(key)),
      ([, object]) => this.#remove(kind, object),
    );
  }

  #follow(kind: Kind): Informer {
    const followed = this.#followed.get(kind.kind);
    if (followed) return followed.informer;
    const informer = this.#informers.get(kind, { labelSelector: SELECTOR });
    informer.addIndex('tenant', ({ metadata }) => [metadata.labels![OWNED_BY_TENANT]]);
    this.#followed.set(kind.kind, { kind, informer });
    this.#listeners.get(kind.kind)?.(informer);
    return informer;
  }

  async #write(kind: Kind, object: KubeObject, existing: KubeObject | undefined): Promise<void> {
    // What a binding refers to cannot be changed, and admission keeps the name for us.
    if (existing?.roleRef && !isContained(object.roleRef, existing.roleRef)) await this.#remove(kind, existing);
    await this.#client.resource(kind, object.metadata.namespace).apply(object, { fieldManager: FIELD_MANAGER, force: true });
  }

  async #remove(kind: Kind, { metadata }: KubeObject): Promise<void> {
    try {
      await this.#client.resource(kind, metadata.namespace).delete(metadata.name!);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}
