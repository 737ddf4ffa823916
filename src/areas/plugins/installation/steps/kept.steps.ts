import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { LimitRange, NetworkPolicy, ResourceQuota } from '../../../../client/kinds.ts';
import { done, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { randomSuffix } from '../../../../lib/ids.ts';
import { DatabaseUnavailable } from '../../database/platform-database.ts';
import type { PluginTokens } from '../../identity/plugin-tokens.ts';
import { networkPolicies, reachesBroker, type BackendAddress } from '../../network/network-policies.ts';
import { limitRange, resourceQuota } from '../../workload/limits.ts';
import type { Target } from '../model/target.ts';
import type { PluginObjects } from '../plugin-objects.ts';

type TargetOf = (installation: PluginInstallation) => Target;
/** The wanted version, and those that still answer requests. */
export type VersionsOf = (installation: PluginInstallation, target: Target) => Target[];
type Keep = PluginObjects['keep'];

export function namespaceReady(target: TargetOf, ensure: (target: Target) => Promise<Outcome>): Step<PluginInstallation> {
  return {
    name: InstallationCondition.NamespaceReady,
    async run(installation) {
      const wanted = target(installation);
      const outcome = await ensure(wanted);
      if (outcome.type === 'done') installation.status!.namespace = wanted.namespace;
      return outcome;
    },
  };
}

export function limitsSet(target: TargetOf, versions: VersionsOf, keep: Keep): Step<PluginInstallation> {
  return {
    name: InstallationCondition.LimitsSet,
    async run(installation) {
      const wanted = target(installation);
      await Promise.all([
        keep(ResourceQuota, wanted.namespace, 'limits', [resourceQuota(wanted, versions(installation, wanted))]),
        keep(LimitRange, wanted.namespace, 'limits', [limitRange(wanted, versions(installation, wanted))]),
      ]);
      return done();
    },
  };
}

export interface NetworkPorts {
  target: TargetOf;
  versions: VersionsOf;
  keep: Keep;
  databaseAddresses(): Promise<readonly BackendAddress[]>;
  brokerAddresses(): Promise<readonly BackendAddress[]>;
  gatewayAddresses(): readonly BackendAddress[];
}

export function networkIsolated({ target, versions, keep, ...ports }: NetworkPorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.NetworkIsolated,
    async run(installation) {
      const wanted = target(installation);
      const all = versions(installation, wanted);
      const database = all.some(({ manifest }) => manifest.spec.database) ? await addressesOf(ports) : [];
      const broker = all.some(({ manifest }) => reachesBroker(manifest)) ? await ports.brokerAddresses() : [];
      const gateway = all.some(({ manifest }) => manifest.spec.egress?.to?.includes('gateway')) ? ports.gatewayAddresses() : [];
      await keep(NetworkPolicy, wanted.namespace, 'network', networkPolicies(wanted, [...database, ...broker, ...gateway], all));
      return done();
    },
  };
}

/** Without a server there is nothing to be reached; the step of the database says why. */
async function addressesOf({ databaseAddresses }: Pick<NetworkPorts, 'databaseAddresses'>): Promise<readonly BackendAddress[]> {
  try {
    return await databaseAddresses();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return [];
    throw error;
  }
}

export function identityIssued(
  target: TargetOf,
  tokens: Pick<PluginTokens, 'ensureAccount' | 'ensure' | 'remove'>,
): Step<PluginInstallation> {
  return {
    name: InstallationCondition.IdentityIssued,
    async run(installation, { now }) {
      const wanted = target(installation);
      await tokens.ensureAccount(wanted);
      const status = (installation.status ??= {});
      if (wanted.isSuspended) {
        delete status.identity;
        await tokens.remove(wanted);
        return done(InstallationReason.Suspended, 'it has no token while it is suspended');
      }
      status.identity ??= randomSuffix(16);
      await tokens.ensure(wanted, status.identity, now());
      return done();
    },
  };
}
