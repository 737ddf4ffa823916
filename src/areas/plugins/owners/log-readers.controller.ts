import { TenantKind } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { RoleBinding } from '../../../client/kinds.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { logReaders } from './log-readers.ts';

/** Lets the owners of a tenant read the logs of its plugins, whose namespaces are not theirs. */
export function logReadersController(environment: PluginsEnvironment, { installations, objects }: InstallationParts): Controller {
  const tenants = environment.informers.get(TenantKind);
  const reconcile = async (key: string): Promise<void> => {
    const installation = installations.get(key);
    const tenant = installation && tenants.get(installation.metadata.namespace!);
    const namespace = installation?.status?.namespace;
    if (!tenant || namespace === undefined || installation.metadata.deletionTimestamp) return;
    await objects.keep(RoleBinding, namespace, 'owners', logReaders(tenant.spec.owners));
  };
  return new Controller({ ...environment, name: 'plugin-log-readers', reconcile })
    .watch(installations)
    .watch(tenants, ({ object }) => installations.byIndex('tenant', object.metadata.name!).map(keyOf))
    .watch(objects.informerOf(RoleBinding), ({ object }) => installations.byIndex('namespace', object.metadata.namespace!).map(keyOf));
}
