import type { Controller } from '../../../runtime/controller.ts';
import { claimReleaseController } from '../claims/claim-release.controller.ts';
import { pluginsWith } from '../claims/data-claims.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';

/** Removes the database that a tenant had. */
export function tenantDatabasesController(
  environment: PluginsEnvironment,
  { dataClaims, installations, database }: InstallationParts,
): Controller {
  return claimReleaseController(environment, {
    name: 'plugin-tenant-databases',
    what: 'the database of a tenant',
    claims: dataClaims.tenants,
    installations,
    settings: database.settings,
    async remove(tenant, claim) {
      const plugins = pluginsWith('database', claim);
      if (plugins.length > 0) await (await database.open()).removeTenant(tenant, plugins);
      return true;
    },
  });
}
