import { HierarchyConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { PLACE_ANNOTATION } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import {
  PLACED_IN_LABEL,
  PLUGIN_ROLE,
  ROLE_LABEL,
  SYSTEM_ROLE,
  systemNamespaceOf,
  TENANT_LABEL,
} from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../../client/client.ts';
import { Namespace } from '../../../client/kinds.ts';
import type { Json, ObjectMeta } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { ReadonlyForest } from '../forest/forest.ts';
import { inParallel } from './in-parallel.ts';
import { metadataDifference, metadataPatch } from './model/namespace-metadata.ts';
import { FIELD_MANAGER } from './owned-objects.ts';
import type { ExistingNamespace } from './model/validate-tenant.ts';

/** The namespace of a plugin, and what is written on it: a cluster, or that it was kept from one. */
export interface PluginPlace {
  namespace: string;
  place: string | undefined;
}

/** The namespaces of a tenant: made, labelled, annotated, and found again. Who belongs to whom is the forest's to say. */
export class TenantNamespaces {
  readonly #client: Client;
  readonly #namespaces: Informer;
  readonly #forest: ReadonlyForest;

  constructor(client: Client, namespaces: Informer, forest: ReadonlyForest) {
    this.#client = client;
    this.#namespaces = namespaces;
    this.#forest = forest;
  }

  get(name: string): ExistingNamespace | undefined {
    const metadata = this.#namespaces.get(name)?.metadata;
    if (!metadata) return undefined;
    return {
      tenant: metadata.labels?.[TENANT_LABEL],
      role: metadata.labels?.[ROLE_LABEL],
      parent: this.#forest.get(name)?.parent,
      terminating: metadata.deletionTimestamp !== undefined,
    };
  }

  /** All that exist, the root first, parents before children. */
  of(tenant: string): string[] {
    const root = this.#forest.get(tenant);
    const below = this.#forest.descendants(tenant).filter((name) => this.#forest.get(name)?.tenant === tenant);
    return root?.tenant === tenant ? [tenant, ...below] : below;
  }

  /** Those where owners have their workloads and the platform its plugins: everything but the tenant's own control. */
  withWorkloads(tenant: string): string[] {
    return this.of(tenant).filter((name) => this.#forest.get(name)?.role !== SYSTEM_ROLE);
  }

  /** Those that are neither the platform's nor a plugin's. */
  ofOwners(tenant: string): string[] {
    return this.of(tenant).filter((name) => this.#forest.get(name)?.role === undefined);
  }

  /** Those of plugins, with what their controllers say of where they are. */
  ofPlugins(tenant: string): PluginPlace[] {
    const names = this.of(tenant).filter((name) => this.#forest.get(name)?.role === PLUGIN_ROLE);
    return names.map((namespace) => ({ namespace, place: this.#namespaces.get(namespace)?.metadata.annotations?.[PLACE_ANNOTATION] }));
  }

  /** Where Runtimes and Runs of the owners' namespaces work; null: here. */
  async setPlaced(tenant: string, cluster: string | null): Promise<void> {
    await inParallel(this.ofOwners(tenant), (name) =>
      this.#patch(name, (_, current) => metadataDifference(current, { labels: { [PLACED_IN_LABEL]: cluster } })),
    );
  }

  /** The root and the system namespace below it. */
  async ensure({ metadata, spec }: Tenant): Promise<void> {
    const tenant = metadata.name!;
    const system = systemNamespaceOf(tenant);
    const made = (name: string, labels: Record<string, string>): ObjectMeta => {
      const said = metadataPatch(spec, {}, name === tenant)?.metadata ?? {};
      return { name, labels: { ...said.labels, ...labels }, annotations: said.annotations };
    };
    await Promise.all([
      this.#namespaces.get(tenant) ? undefined : this.#create(made(tenant, { [TENANT_LABEL]: tenant })),
      this.#namespaces.get(system) ? undefined : this.#create(made(system, { [ROLE_LABEL]: SYSTEM_ROLE })),
    ]);
    if (this.#forest.get(system)?.parent === tenant) return;
    const hierarchy = { metadata: { name: HIERARCHY_NAME, namespace: system }, spec: { parent: tenant } };
    await this.#client.resource(HierarchyConfigurationKind, system).apply(hierarchy, { fieldManager: FIELD_MANAGER, force: true });
  }

  /** What the Tenant says of all its namespaces. */
  async label({ metadata, spec }: Tenant): Promise<void> {
    await this.#patchAll(metadata.name!, (name, current) => metadataPatch(spec, current, this.#forest.get(name)?.role === undefined));
  }

  annotationOf(name: string, key: string): string | undefined {
    return this.#namespaces.get(name)?.metadata.annotations?.[key];
  }

  /** One annotation on all of them; null removes it. The root has it first: it is what admission looks at. */
  async annotate(tenant: string, key: string, value: string | null): Promise<void> {
    const patch = (_: string, current: ObjectMeta): Json => metadataDifference(current, { annotations: { [key]: value } });
    await this.#patch(tenant, patch);
    await this.#patchAll(tenant, patch);
  }

  async #patchAll(tenant: string, patchOf: (name: string, current: ObjectMeta) => Json): Promise<void> {
    await inParallel(this.of(tenant), (name) => this.#patch(name, patchOf));
  }

  async #patch(name: string, patchOf: (name: string, current: ObjectMeta) => Json): Promise<void> {
    const current = this.#namespaces.get(name)?.metadata;
    if (!current || current.deletionTimestamp) return;
    const patch = patchOf(name, current);
    if (patch === undefined) return;
    try {
      await this.#client.resource(Namespace).patch(name, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  async #create(metadata: ObjectMeta): Promise<void> {
    try {
      await this.#client.resource(Namespace).create({ metadata }, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      // Somebody was faster; whose it is will be seen when the cache has it.
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
}
