import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { pluginsWith } from '../claims/data-claims.ts';
import { tenantOfClaim } from '../claims/tenant-claims.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';

/** No watch tells when a server is back. */
const TRY_AGAIN_MS = 5_000;

/** Removes the database that a tenant had, once the tenant and the last of its plugins are gone. */
export function tenantDatabasesController(
  environment: PluginsEnvironment,
  { dataClaims, installations, database }: InstallationParts,
): Controller {
  const { tenants: claims } = dataClaims;
  claims.informer.addIndex('tenant', (claim) => [tenantOfClaim(claim)]);
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const claim = claims.informer.get(key);
    if (!claim?.metadata.deletionTimestamp) return undefined;
    const tenant = tenantOfClaim(claim);
    if (claims.isInUse(claim, installations.byIndex('tenant', tenant))) return { afterMs: TRY_AGAIN_MS };
    const plugins = pluginsWith('database', claim);
    try {
      if (plugins.length > 0) await (await database.open()).removeTenant(tenant, plugins);
    } catch (error) {
      environment.log.warn('cannot remove the database of a tenant; trying again', { tenant, error });
      return { afterMs: TRY_AGAIN_MS };
    }
    await claims.release(claim);
    return undefined;
  };
  const ofTenant = (tenant: string): string[] => claims.informer.byIndex('tenant', tenant).map(keyOf);
  return new Controller({ ...environment, name: 'plugin-tenant-databases', reconcile })
    .watch(claims.informer)
    .watch(installations, ({ type, object }) => (type === 'deleted' ? ofTenant(object.metadata.namespace!) : []))
    .watch(database.settings, () => Array.from(claims.informer.list(), keyOf));
}
