import { HierarchyConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import {
  INSTALLATION_ANNOTATION,
  PLACE_ANNOTATION,
  PLUGIN_LABEL,
  PUBLISHER_LABEL,
  VERSION_LABEL,
} from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { PLUGIN_ROLE, ROLE_LABEL, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { Namespace } from '../../../client/kinds.ts';
import { isContained } from '../../../kube/is-contained.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { done, stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import { versionLabelOf } from './model/plugin-names.ts';
import type { Target } from './model/target.ts';
import { FIELD_MANAGER } from './plugin-objects.ts';

/** The namespaces that plugins run in. They are the platform's, below the root of the tenant. */
export class PluginNamespaces {
  readonly #client: Client;
  readonly #namespaces: Informer;

  constructor(client: Client, namespaces: Informer) {
    this.#client = client;
    this.#namespaces = namespaces;
  }

  /** Whether a namespace is the root of a tenant. */
  isTenant(name: string): boolean {
    return this.#namespaces.get(name)?.metadata.labels?.[TENANT_LABEL] === name;
  }

  async ensure(target: Target): Promise<Outcome> {
    const { namespace, tenant } = target;
    const existing = this.#namespaces.get(namespace);
    if (existing?.metadata.deletionTimestamp) {
      return waiting(InstallationReason.NamespaceTerminating, `waits until the namespace ${namespace} of an earlier installation is gone`);
    }
    if (existing && !isOf(existing, target)) {
      const message = `Cannot install "${target.plugin}": the namespace ${namespace} belongs to something else, maybe a plugin of the same name by another publisher; uninstall that first`;
      return stalled(InstallationReason.NameTaken, message);
    }
    const metadata = metadataOf(target);
    if (!existing) await this.#create(metadata);
    else if (!isContained(metadata, existing.metadata)) {
      await this.#client.resource(Namespace).patch(namespace, { type: 'merge', patch: { metadata } }, { fieldManager: FIELD_MANAGER });
    }
    if (existing?.metadata.labels?.[TENANT_LABEL] === tenant) return done('Ready', namespace);
    const hierarchy = { metadata: { name: HIERARCHY_NAME, namespace }, spec: { parent: tenant } };
    await this.#client.resource(HierarchyConfigurationKind, namespace).apply(hierarchy, { fieldManager: FIELD_MANAGER, force: true });
    return waiting(InstallationReason.NamespaceJoining, `the namespace ${namespace} is becoming a part of the tenant ${tenant}`);
  }

  /** Whether a namespace was made for this installation. */
  isOwn(namespace: string, tenant: string, installation: string): boolean {
    return this.#namespaces.get(namespace)?.metadata.annotations?.[INSTALLATION_ANNOTATION] === `${tenant}/${installation}`;
  }

  /** Says where the plugin runs; null: nothing is said. */
  async setPlace(namespace: string, place: string | null): Promise<void> {
    const existing = this.#namespaces.get(namespace);
    if (existing === undefined || (existing.metadata.annotations?.[PLACE_ANNOTATION] ?? null) === place) return;
    const patch = { metadata: { annotations: { [PLACE_ANNOTATION]: place } } };
    await this.#client.resource(Namespace).patch(namespace, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
  }

  /** @returns whether it is gone */
  async remove(namespace: string, tenant: string, installation: string): Promise<boolean> {
    const existing = this.#namespaces.get(namespace);
    if (!existing || !this.isOwn(namespace, tenant, installation)) return true;
    if (existing.metadata.deletionTimestamp) return false;
    try {
      await this.#client.resource(Namespace).delete(namespace, { preconditions: { uid: existing.metadata.uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
    return false;
  }

  async #create(metadata: KubeObject['metadata']): Promise<void> {
    try {
      await this.#client.resource(Namespace).create({ metadata }, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      // Ours from a moment ago, or somebody else's: the cache will say.
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  }
}

function isOf({ metadata }: KubeObject, { tenant, installation, publisher }: Target): boolean {
  const isSame = metadata.annotations?.[INSTALLATION_ANNOTATION] === `${tenant}/${installation}`;
  return isSame && metadata.labels?.[ROLE_LABEL] === PLUGIN_ROLE && metadata.labels[PUBLISHER_LABEL] === publisher;
}

/** On every namespace that plugins run in, wherever it is. */
export function podSecurityLabels(): Record<string, string> {
  return Object.fromEntries(
    ['enforce', 'audit', 'warn'].flatMap((mode) => [
      [`pod-security.kubernetes.io/${mode}`, 'restricted'],
      [`pod-security.kubernetes.io/${mode}-version`, 'latest'],
    ]),
  );
}

function metadataOf({ namespace, tenant, installation, plugin, publisher, version }: Target): KubeObject['metadata'] {
  return {
    name: namespace,
    labels: {
      ...podSecurityLabels(),
      [ROLE_LABEL]: PLUGIN_ROLE,
      [PLUGIN_LABEL]: plugin,
      [PUBLISHER_LABEL]: publisher,
      [VERSION_LABEL]: versionLabelOf(version.spec.version),
    },
    annotations: { [INSTALLATION_ANNOTATION]: `${tenant}/${installation}` },
  };
}
