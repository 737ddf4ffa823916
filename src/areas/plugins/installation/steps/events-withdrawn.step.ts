import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { PLATFORM_NAMESPACE } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { EventBroker } from '../../kafka/event-broker.ts';
import { clientPrefixOf } from '../../kafka/model/event-names.ts';
import { topicsToRemove } from '../../kafka/model/settle-topics.ts';
import { eventTypesOf, needsEvents, type EventTypes } from '../../kafka/model/wanted-events.ts';
import type { PluginEvents } from '../../kafka/plugin-events.ts';
import { claimNameOf } from '../../claims/tenant-claims.ts';
import { pluginNamespaceOf } from '../model/plugin-names.ts';

export interface WithdrawnPorts {
  /** The tenant goes too, and everything of it with it. */
  isTenantGoing(tenant: string): boolean;
  events: Pick<PluginEvents, 'withdraw'>;
  /** @throws BrokerSettingsError */
  broker(): Promise<EventBroker | undefined>;
  /** Whether anything of the tenant ever was at a broker. */
  hasClaim(tenant: string): boolean;
  /** Those of the versions that it had, as far as they are known. */
  manifestsOf(installation: PluginInstallation): PluginManifest[];
  /** Event types that other plugins of the tenant name. */
  namedByOthers(installation: PluginInstallation): string[];
}

/** No watch tells when a broker is back, or when it has noticed that a consumer is gone. */
const TRY_AGAIN_MS = 5_000;

/** The plugin is nobody at the broker any more. Its topics stay with its data, and go with them. */
export function eventsWithdrawn(ports: WithdrawnPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.EventsWithdrawn,
    async run(installation) {
      const { metadata, spec, status } = installation;
      const { namespace: tenant = '' } = metadata;
      const types = eventTypesOf(ports.manifestsOf(installation));
      // One that never had its namespace has nothing at the broker: what is there is that of another publisher's plugin of the same name.
      if (status?.namespace === undefined || !hadEvents(installation, types, ports.hasClaim)) return done(InstallationReason.NotNeeded);
      try {
        const broker = await ports.broker();
        if (!broker) return waiting(InstallationReason.EventsUnavailable, unconfigured(tenant));
        await ports.events.withdraw({ tenant, plugin: spec.plugin, namespace: pluginNamespaceOf(tenant, spec.plugin) }, broker);
        // What the tenant's plugins left goes with the tenant, all at once.
        if (spec.data !== 'Delete' || ports.isTenantGoing(tenant)) return done(InstallationReason.Retained);
        const leaving = { tenant, plugin: spec.plugin, types };
        await broker.removeTopics(topicsToRemove(await broker.topics(), leaving, ports.namedByOthers(installation)));
        await broker.removeGroups(clientPrefixOf(tenant, spec.plugin));
        return done();
      } catch (error) {
        const message = `its part of Kafka cannot be removed: ${(error as Error).message}; trying again`;
        return waiting(InstallationReason.EventsUnavailable, message, TRY_AGAIN_MS);
      }
    },
  };
}

/** One that only ever waited for a broker has nothing at any. */
function hadEvents({ metadata, status }: PluginInstallation, types: EventTypes, hasClaim: WithdrawnPorts['hasClaim']): boolean {
  const ready = findCondition(status?.conditions, InstallationCondition.EventsReady);
  const isSetUp = ready?.status === 'True' && ready.reason !== InstallationReason.NotNeeded;
  return hasClaim(metadata.namespace!) && (isSetUp || needsEvents(types));
}

function unconfigured(tenant: string): string {
  const how = `put the settings back, or take the finalizer off the ConfigMap ${PLATFORM_NAMESPACE}/${claimNameOf('events', tenant)} and delete it to leave everything there`;
  return `its part of Kafka cannot be removed: none is configured; ${how}`;
}
