import { PluginInstallationKind } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import type { InstallationParts } from './installation-parts.ts';
import { isOrphaned, namespaceOwner, type NamespaceOwner } from './model/orphaned-namespace.ts';
import { pluginNamespaceOf } from './model/plugin-names.ts';

/** No watch tells when a broker is back. */
const TRY_AGAIN_MS = 5_000;

/**
 * Uninstalls what runs without an installation: whoever may write an installation may take its finalizer off, and then nobody undoes what was
 * done for it. Its data stay as with any other, until the tenant goes.
 */
export function orphansController(environment: PluginsEnvironment, parts: InstallationParts): Controller {
  const { client, log } = environment;
  const { installations, namespaceCache, namespaces } = parts;

  const isLeft = async (owner: NamespaceOwner): Promise<boolean> => {
    if (!isOrphaned(owner, installations.find(owner.tenant, owner.installation))) return false;
    // A cache may be behind, and this cannot be taken back.
    try {
      return isOrphaned(owner, await client.resource(PluginInstallationKind, owner.tenant).get(owner.installation));
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return true;
      throw error;
    }
  };

  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const found = namespaceCache.get(key);
    const owner = found && namespaceOwner(found);
    if (!owner || !(await isLeft(owner))) return undefined;
    const { tenant, plugin, installation } = owner;
    log.warn('a plugin runs without an installation; removing it', { tenant, plugin, namespace: key });
    try {
      // Before the namespace, which is all that is known of it.
      const broker = parts.eventClaims.has(tenant) ? await parts.broker.current() : undefined;
      if (broker) await parts.events.withdraw({ tenant, plugin, namespace: key }, broker);
    } catch (error) {
      log.warn('cannot remove the part of a plugin at Kafka; trying again', { tenant, plugin, error });
      return { afterMs: TRY_AGAIN_MS };
    }
    await namespaces.remove(key, tenant, installation);
    return undefined;
  };
  return new Controller({ ...environment, name: 'plugin-orphans', reconcile })
    .watch(namespaceCache, ({ type, object }) => (type === 'deleted' || !namespaceOwner(object) ? [] : [object.metadata.name!]))
    .watch(installations, ({ type, object: { metadata, spec } }) =>
      type === 'deleted' ? [pluginNamespaceOf(metadata.namespace!, spec.plugin)] : [],
    )
    .watch(parts.eventClaims.informer, () => []);
}
