import { secretPathOf } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { errorText } from '../../../lib/log.ts';
import { done, waiting } from '../../../runtime/steps/outcome.ts';
import { NOT_REACHED, type Step } from '../../../runtime/steps/run-steps.ts';
import { DatabaseUnavailable } from '../database/platform-database.ts';
import type { PluginDatabases } from '../database/plugin-databases.ts';
import type { SecretBackend } from '../secrets/secret-backend.ts';
import { pluginNamespaceOf } from './model/plugin-names.ts';
import { eventsWithdrawn, type WithdrawnPorts } from './steps/events-withdrawn.step.ts';

export interface TeardownPorts extends WithdrawnPorts {
  /** @returns whether it is gone */
  removeNamespace(namespace: string, tenant: string, installation: string): Promise<boolean>;
  backend: Pick<SecretBackend, 'removeBelow'>;
  /** @throws DatabaseUnavailable */
  databases(): Promise<Pick<PluginDatabases, 'remove'>>;
}

/** No watch tells when a server is back. */
const TRY_AGAIN_MS = 5_000;

/** First what runs, then what it left. */
export function teardownSteps(ports: TeardownPorts): Step<PluginInstallation>[] {
  return [namespaceGone(ports), eventsWithdrawn(ports), dataSettled(ports)];
}

function namespaceGone({ removeNamespace }: TeardownPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.NamespaceGone,
    async run({ metadata, spec }) {
      const namespace = pluginNamespaceOf(metadata.namespace!, spec.plugin);
      if (await removeNamespace(namespace, metadata.namespace!, metadata.name!)) return done();
      return waiting(InstallationReason.Deleting, `the namespace ${namespace} is on its way out`);
    },
  };
}

function dataSettled({ isTenantGoing, backend, databases }: TeardownPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.DataSettled,
    async run({ metadata, spec, status }) {
      const tenant = metadata.namespace!;
      // One that never had its namespace has no data: what is there is that of another publisher's plugin of the same name.
      if (status?.namespace === undefined) return done(InstallationReason.NotNeeded);
      if (spec.data !== 'Delete' && !isTenantGoing(tenant)) return done(InstallationReason.Retained);
      const database = findCondition(status.conditions, InstallationCondition.DatabaseReady);
      if (database && database.reason !== InstallationReason.NotNeeded && database.reason !== NOT_REACHED) {
        try {
          await (await databases()).remove(tenant, spec.plugin);
        } catch (error) {
          const hadNone = error instanceof DatabaseUnavailable && !error.isConfigured && (status.history ?? []).length === 0;
          if (!hadNone)
            return waiting(
              InstallationReason.DatabaseUnavailable,
              `its database cannot be removed: ${errorText(error)}; trying again`,
              TRY_AGAIN_MS,
            );
        }
      }
      await backend.removeBelow(secretPathOf(spec.plugin, tenant, ''));
      return done();
    },
  };
}
