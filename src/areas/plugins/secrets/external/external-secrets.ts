import { MANAGED_LABEL, SECRET_PATH_ANNOTATION } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { readSecretPath } from '../../../../api/plugins.tenantry.dev/v1alpha1/secret-path.ts';
import type { Client } from '../../../../client/client.ts';
import { Secret, ServiceAccount } from '../../../../client/kinds.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import { isContained } from '../../../../kube/is-contained.ts';
import type { Kind } from '../../../../kube/kind.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { Informer } from '../../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import { waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import { pluginNamespaceOf } from '../../installation/model/plugin-names.ts';
import type { Target } from '../../installation/model/target.ts';
import { FIELD_MANAGER, type PluginObjects } from '../../installation/plugin-objects.ts';
import { externalNameOf, externalObjects, ExternalSecretKind, SecretStoreKind } from './external-objects.ts';
import { SECRETS_ACCOUNT, type ExternalSettings } from './external-settings.ts';

const OWN = `${MANAGED_LABEL}=external-secrets`;
/** Nobody tells when an operator is installed that was not there. */
const LOOK_AGAIN_MS = 30_000;
const MAX_REASON = 300;

/** Secrets that the External Secrets Operator brings into the namespaces of plugins. */
export class ExternalSecrets {
  readonly #client: Client;
  readonly #informers: SharedInformers;
  readonly #objects: PluginObjects;
  /** By path, what the operator last said of it. */
  readonly #said = new Map<string, string>();
  #follow: ((informer: Informer) => void) | undefined;

  constructor(client: Client, informers: SharedInformers, objects: PluginObjects) {
    this.#client = client;
    this.#informers = informers;
    this.#objects = objects;
  }

  /** Calls back with the informers of the operator's kinds once these are used: before that they may not exist. */
  onFollowing(follow: (informer: Informer) => void): void {
    this.#follow = follow;
  }

  async fetch(targets: readonly Target[], settings: ExternalSettings): Promise<Outcome | undefined> {
    const { namespace, plugin } = targets[0];
    const { account, store, secrets } = externalObjects(targets, settings);
    try {
      if (secrets.length === 0) return await this.remove(namespace);
      await this.#objects.keep(ServiceAccount, namespace, 'external-secrets', [account]);
      await this.#keep(SecretStoreKind, namespace, [store]);
      for (const found of await this.#keep(ExternalSecretKind, namespace, secrets)) this.#listen(found);
      this.#startFollowing();
      return undefined;
    } catch (error) {
      // A kind that is not served, or one that is about to be.
      if (!isStatusError(error, 'NotFound')) throw error;
      const message = `Cannot fetch the secrets of "${plugin}": the External Secrets Operator is not installed (external-secrets.io/v1 is not served); install it, or take "secrets" out of the platform's settings`;
      return waiting(InstallationReason.SecretBackendUnavailable, message, LOOK_AGAIN_MS);
    }
  }

  read(path: string): Readonly<Record<string, string>> | undefined {
    const place = readSecretPath(path);
    if (!place) return undefined;
    const found = this.#objects.find<KubeObject>(Secret, pluginNamespaceOf(place.tenant, place.plugin), externalNameOf(path));
    return found?.metadata.labels?.[MANAGED_LABEL] === 'external-secrets' ? ((found.data ?? {}) as Record<string, string>) : undefined;
  }

  /** What the operator says about a path, never what is in it. */
  whyMissing(path: string): string | undefined {
    return this.#said.get(path);
  }

  /** Nothing of it is left in a namespace. What is not served is not there. */
  async remove(namespace: string): Promise<undefined> {
    if (!this.#objects.find(ServiceAccount, namespace, SECRETS_ACCOUNT)) return undefined;
    for (const kind of [ExternalSecretKind, SecretStoreKind]) {
      try {
        await this.#keep(kind, namespace, []);
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    }
    // Last, because it is what tells that there may be more.
    await this.#objects.keep(ServiceAccount, namespace, 'external-secrets', []);
    return undefined;
  }

  /** Read from the server, because a cache of kinds that may not exist could never be complete. @returns what is there */
  async #keep(kind: Kind, namespace: string, wanted: readonly KubeObject[]): Promise<KubeObject[]> {
    const resource = this.#client.resource<KubeObject>(kind, namespace);
    const { items } = await resource.list({ labelSelector: OWN });
    const existing = new Map(items.map((each) => [each.metadata.name!, each]));
    for (const object of wanted) {
      const name = object.metadata.name!;
      if (isContained(object, existing.get(name))) continue;
      existing.set(name, await resource.apply(object, { fieldManager: FIELD_MANAGER, force: true }));
    }
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    for (const name of [...existing.keys()].filter((each) => !names.has(each))) {
      existing.delete(name);
      await resource.delete(name);
    }
    return [...existing.values()];
  }

  #listen({ metadata, status }: KubeObject): void {
    const path = metadata.annotations?.[SECRET_PATH_ANNOTATION] ?? '';
    const ready = findCondition<{ type: string; status: string; reason?: string; message?: string }>(status?.conditions, 'Ready');
    if (ready?.status === 'False') this.#said.set(path, `${ready.reason}: ${ready.message}`.slice(0, MAX_REASON));
    else this.#said.delete(path);
  }

  #startFollowing(): void {
    if (!this.#follow) return;
    for (const kind of [SecretStoreKind, ExternalSecretKind]) this.#follow(this.#informers.get(kind, { labelSelector: OWN }));
    this.#follow = undefined;
  }
}
