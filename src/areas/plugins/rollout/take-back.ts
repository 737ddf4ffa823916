import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { formatTime } from '../../../kube/time.ts';
import { stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import { contractBetween, isDeployed, isRollingBack } from '../installation/model/wanted-version.ts';
import type { Breach } from './model/health-gate.ts';

export interface TakeBackPorts {
  versionsOf(publisher: string, plugin: string): PluginVersion[];
}

/**
 * Takes an upgrade back: from the next round on the installation aims at the version that was healthy before. Undefined when there is none,
 * as in a first installation; stalled when what the new version did to its database forbids it.
 */
export function takeBack(ports: TakeBackPorts, installation: PluginInstallation, breach: Breach, now: number): Outcome | undefined {
  const { spec, status = {} } = installation;
  const failed = status.target?.version;
  const good = status.version;
  if (failed === undefined || good === undefined || failed === good || isRollingBack(installation)) return undefined;
  const contract = contractBetween(
    good,
    status.history ?? [],
    isDeployed(status, failed) ? failed : undefined,
    ports.versionsOf(spec.publisher, spec.plugin),
  );
  if (contract !== undefined) {
    const message = `${failed} is not healthy (${breach.reason}: ${breach.message}), and there is no way back to ${good}: ${contract} took away what it needs from its database; publish a version that works with what is there`;
    return stalled(InstallationReason.RollbackForbidden, message);
  }
  const message = `${failed} was taken back: ${breach.message}; ${good} is at work`;
  status.rejected = { version: failed, reason: breach.reason, message, at: formatTime(new Date(now)) };
  // The next round is about another version, with all its steps.
  return waiting(InstallationReason.TakingBack, message, 0);
}
