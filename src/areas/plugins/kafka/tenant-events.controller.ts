import type { Controller } from '../../../runtime/controller.ts';
import { claimReleaseController } from '../claims/claim-release.controller.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { isTopicOfTenant, topicOf } from './model/event-names.ts';

/** Takes from the broker what a tenant had there. */
export function tenantEventsController(
  environment: PluginsEnvironment,
  { eventClaims, installations, database, broker }: InstallationParts,
): Controller {
  return claimReleaseController(environment, {
    name: 'plugin-tenant-events',
    what: 'what a tenant had at Kafka',
    claims: eventClaims,
    installations,
    settings: database.settings,
    async remove(tenant) {
      const current = await broker.current();
      if (!current) return false;
      await current.removeTopics((await current.topics()).filter((topic) => isTopicOfTenant(topic, tenant)));
      await current.removeGroups(topicOf(tenant, ''));
      return true;
    },
  });
}
