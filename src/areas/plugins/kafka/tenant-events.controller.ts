import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import type { EventBroker } from './event-broker.ts';
import { isTopicOfTenant, topicOf } from './model/event-names.ts';
import { tenantOfClaim, type TenantClaims } from '../claims/tenant-claims.ts';

/** No watch tells when a broker is back, or when it has noticed that a consumer is gone. */
const TRY_AGAIN_MS = 5_000;

export interface TenantEventsParts {
  claims: TenantClaims;
  installations: Informer<PluginInstallation>;
  /** The platform's. */
  settings: Informer;
  broker(): Promise<EventBroker | undefined>;
}

/** Takes from the broker what a tenant had there, once the tenant and the last of its plugins are gone. */
export function tenantEventsController(environment: PluginsEnvironment, parts: TenantEventsParts): Controller {
  const { claims, installations, settings } = parts;
  claims.informer.addIndex('tenant', (claim) => [tenantOfClaim(claim)]);
  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const claim = claims.informer.get(key);
    if (!claim?.metadata.deletionTimestamp) return undefined;
    const tenant = tenantOfClaim(claim);
    if (claims.isInUse(claim, installations.byIndex('tenant', tenant))) return { afterMs: TRY_AGAIN_MS };
    try {
      const broker = await parts.broker();
      if (!broker) return undefined;
      await broker.removeTopics((await broker.topics()).filter((topic) => isTopicOfTenant(topic, tenant)));
      await broker.removeGroups(topicOf(tenant, ''));
    } catch (error) {
      environment.log.warn('cannot remove what a tenant had at Kafka; trying again', { tenant, error });
      return { afterMs: TRY_AGAIN_MS };
    }
    await claims.release(claim);
    return undefined;
  };
  const ofTenant = (tenant: string): string[] => claims.informer.byIndex('tenant', tenant).map(keyOf);
  return new Controller({ ...environment, name: 'plugin-tenant-events', reconcile })
    .watch(claims.informer)
    .watch(installations, ({ type, object }) => (type === 'deleted' ? ofTenant(object.metadata.namespace!) : []))
    .watch(settings, () => Array.from(claims.informer.list(), keyOf));
}
