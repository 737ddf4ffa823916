import { PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { readSecretPath } from '../../../api/plugins.tenantry.dev/v1alpha1/secret-path.ts';
import { TenantKind } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Secret } from '../../../client/kinds.ts';
import { apiVersionOf } from '../../../kube/kind.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { pathsOf } from './stored-secrets.ts';

/** Gives the stored secrets to their tenants, so that they go with them: also those of plugins that were uninstalled long ago. */
export function tenantSecretsController(environment: PluginsEnvironment, { tenants, secrets }: InstallationParts): Controller {
  const { client } = environment;
  const { informer } = secrets.stored;
  informer.addIndex('tenant', (secret) => pathsOf(secret).map((path) => readSecretPath(path)!.tenant));
  const reconcile = async (key: string): Promise<void> => {
    const secret = informer.get(key);
    const path = secret && pathsOf(secret)[0];
    if (path === undefined) return;
    const tenant = tenants.get(readSecretPath(path)!.tenant);
    const { name, resourceVersion, ownerReferences = [] } = secret!.metadata;
    // One that was another tenant's of the same name is on its way out, and not for its successor.
    if (!tenant || tenant.metadata.deletionTimestamp || ownerReferences.some(({ kind }) => kind === TenantKind.kind)) return;
    const owner = { apiVersion: apiVersionOf(TenantKind), kind: TenantKind.kind, name: tenant.metadata.name!, uid: tenant.metadata.uid! };
    const patch = { metadata: { resourceVersion, ownerReferences: [...ownerReferences, owner] } };
    await client.resource(Secret, PLATFORM_NAMESPACE).patch(name!, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
  };
  return new Controller({ ...environment, name: 'plugin-tenant-secrets', reconcile })
    .watch(informer)
    .watch(tenants, ({ object }) => informer.byIndex('tenant', object.metadata.name!).map(keyOf));
}
