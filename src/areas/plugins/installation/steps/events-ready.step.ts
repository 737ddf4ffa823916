import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { done, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { EventBroker } from '../../kafka/event-broker.ts';
import { BOOTSTRAP_KEY } from '../../kafka/model/broker-settings.ts';
import { needsEvents } from '../../kafka/model/wanted-events.ts';
import { typesOf, type PluginEvents } from '../../kafka/plugin-events.ts';
import type { Target } from '../model/target.ts';

export interface EventsPorts {
  target(installation: PluginInstallation): Target;
  versions(installation: PluginInstallation, target: Target): Target[];
  events: Pick<PluginEvents, 'ensure' | 'withdraw' | 'hasSecret' | 'removeSecret'>;
  /** @returns whether the tenant may have something at the broker: not while an earlier one of its name still has */
  claimTenant(tenant: string): Promise<boolean>;
  /** @throws BrokerSettingsError */
  broker(): Promise<EventBroker | undefined>;
}

/** No watch tells when a broker is back. */
const TRY_AGAIN_MS = 5_000;

/** Its topics are there, it may read and write its own and nothing else, and it has the way to them. */
export function eventsReady({
  target: targetOf,
  versions: versionsOf,
  events,
  broker: open,
  claimTenant,
}: EventsPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.EventsReady,
    async run(installation, { now }) {
      const target = targetOf(installation);
      const versions = versionsOf(installation, target);
      const isNeeded = needsEvents(typesOf(versions));
      if (!isNeeded && !events.hasSecret(target)) return done(InstallationReason.NotNeeded);
      try {
        const broker = await open();
        if (!broker) return unconfigured(target.plugin);
        if (isNeeded) {
          if (!(await claimTenant(target.tenant))) return waitingForClaim(target.tenant);
          await events.ensure({ installation, target, versions }, broker, now());
          return done(target.isSuspended ? InstallationReason.Suspended : undefined);
        }
        // An earlier version had some: first the rights, then the note that there were any.
        await events.withdraw(target, broker);
        await events.removeSecret(target);
        return done(InstallationReason.NotNeeded);
      } catch (error) {
        if (isStatusError(error)) throw error;
        const message = `Cannot set up the events of "${target.plugin}": ${(error as Error).message}; trying again`;
        return waiting(InstallationReason.EventsUnavailable, message, TRY_AGAIN_MS);
      }
    },
  };
}

function waitingForClaim(tenant: string): Outcome {
  const message = `waits until nothing is left at Kafka of an earlier tenant "${tenant}"`;
  return waiting(InstallationReason.EventsUnavailable, message, TRY_AGAIN_MS);
}

function unconfigured(plugin: string): Outcome {
  const what = `Cannot install "${plugin}": its spec.events need Kafka, and none is configured`;
  const message = `${what}; put host:port into ${BOOTSTRAP_KEY}, and an administrator into kafka-user and kafka-password, of the Secret ${PLATFORM_NAMESPACE}/${PLATFORM_SETTINGS}`;
  return waiting(InstallationReason.EventsUnavailable, message);
}
