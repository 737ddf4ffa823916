import { PLATFORM_NAMESPACE, secretPathOf } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { errorText } from '../../../lib/log.ts';
import { done, waiting } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { DataClaims } from '../claims/data-claims.ts';
import { claimNameOf } from '../claims/tenant-claims.ts';
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
  /** What of the tenant's data are whose. */
  claims: Pick<DataClaims, 'has' | 'isOthers' | 'release'>;
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

function dataSettled({ isTenantGoing, backend, databases, claims }: TeardownPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.DataSettled,
    async run({ metadata, spec, status }) {
      const tenant = metadata.namespace!;
      // One that never had its namespace has no data: what is there is that of another publisher's plugin of the same name.
      if (status?.namespace === undefined) return done(InstallationReason.NotNeeded);
      if (spec.data !== 'Delete' && !isTenantGoing(tenant)) return done(InstallationReason.Retained);
      const owner = { tenant, plugin: spec.plugin, publisher: spec.publisher };
      // Whichever version had one, and whether or not the last one did.
      if (claims.has('database', owner)) {
        try {
          await (await databases()).remove(tenant, spec.plugin);
        } catch (error) {
          const message = `its database cannot be removed: ${errorText(error)}${leave(error, tenant)}; trying again`;
          return waiting(InstallationReason.DatabaseUnavailable, message, TRY_AGAIN_MS);
        }
        await claims.release('database', owner);
      }
      if (claims.isOthers('secrets', owner)) return done();
      await backend.removeBelow(secretPathOf(spec.plugin, tenant, ''));
      await claims.release('secrets', owner);
      return done();
    },
  };
}

/** There is nobody to ask any more. */
function leave(error: unknown, tenant: string): string {
  if (!(error instanceof DatabaseUnavailable) || error.isConfigured) return '';
  return `, or take its entry out of the ConfigMap ${PLATFORM_NAMESPACE}/${claimNameOf('data', tenant)} to leave everything there`;
}
