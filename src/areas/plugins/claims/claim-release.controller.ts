import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { tenantOfClaim, type TenantClaims } from './tenant-claims.ts';

/** No watch tells when a server is back, or when it has noticed that somebody is gone. */
const TRY_AGAIN_MS = 5_000;

export interface ClaimReleaseParts {
  name: string;
  /** What is removed: `the database of a tenant`. */
  what: string;
  claims: TenantClaims;
  installations: Informer<PluginInstallation>;
  /** The platform's: with others, what could not be removed may be. */
  settings: Informer;
  /** @returns whether nothing is left; false when there is nobody to ask before the settings change */
  remove(tenant: string, claim: KubeObject): Promise<boolean>;
}

/** Removes what a tenant had outside of Kubernetes, once the tenant and the last of its plugins are gone. */
export function claimReleaseController(environment: PluginsEnvironment, parts: ClaimReleaseParts): Controller {
  const { name, what, claims, installations, settings, remove } = parts;
  claims.informer.addIndex('tenant', (claim) => [tenantOfClaim(claim)]);
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const claim = claims.informer.get(key);
    if (!claim?.metadata.deletionTimestamp) return undefined;
    const tenant = tenantOfClaim(claim);
    if (claims.isInUse(claim, installations.byIndex('tenant', tenant))) return { afterMs: TRY_AGAIN_MS };
    try {
      if (!(await remove(tenant, claim))) return undefined;
    } catch (error) {
      environment.log.warn(`cannot remove ${what}; trying again`, { tenant, error });
      return { afterMs: TRY_AGAIN_MS };
    }
    await claims.release(claim);
    return undefined;
  };
  const ofTenant = (tenant: string): string[] => claims.informer.byIndex('tenant', tenant).map(keyOf);
  return new Controller({ ...environment, name, reconcile })
    .watch(claims.informer)
    .watch(installations, ({ type, object }) => (type === 'deleted' ? ofTenant(object.metadata.namespace!) : []))
    .watch(settings, () => Array.from(claims.informer.list(), keyOf));
}
