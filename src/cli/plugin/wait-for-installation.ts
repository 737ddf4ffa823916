import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { InstallationCondition } from '../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Session } from '../terminal/session.ts';
import { waitForObject } from '../terminal/wait-for-object.ts';

export const WAIT_MS = 300_000;

/** @returns undefined when it is gone */
export function waitForInstallation(
  session: Session,
  { tenant, name }: { tenant: string; name: string },
  isDone: (installation: PluginInstallation) => boolean,
): Promise<PluginInstallation | undefined> {
  const installations = session.cluster.client.resource(PluginInstallationKind, tenant);
  const shownBy = `tenantry plugin get ${name} --tenant ${tenant}`;
  const waiting = { isDone, waitsFor, timeoutMs: WAIT_MS, what: `plugin "${name}"`, shownBy };
  return waitForObject(session, installations, name, waiting);
}

/** The controller has seen what was asked for, and is at rest. */
export function isSettled({ metadata, status }: PluginInstallation): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  return (
    status?.phase === 'FAILED' ||
    refusalOf(status) !== undefined ||
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}

/** Says how it ended. @returns the exit code */
export function tellResult(session: Session, name: string, installation: PluginInstallation | undefined): number {
  if (!installation) {
    session.err(`plugin ${name} was uninstalled meanwhile\n`);
    return 1;
  }
  const { phase, version, reason, message } = installation.status ?? {};
  if (phase === 'FAILED') {
    session.err(`plugin ${name} is FAILED: ${reason}: ${message}\n`);
    return 1;
  }
  const refusal = refusalOf(installation.status);
  if (refusal) {
    session.err(`plugin ${name} ${version} is ${phase}: ${refusal.reason}: ${refusal.message}\n`);
    return 1;
  }
  session.out(`plugin ${name} ${version} is ${phase}\n`);
  return 0;
}

/** Of the rollback that was asked for. */
function refusalOf(status: PluginInstallation['status']): { reason: string; message: string } | undefined {
  return findCondition(status?.conditions, InstallationCondition.RollbackAccepted);
}

function waitsFor({ metadata, status }: PluginInstallation): string {
  const { reason, message } = status ?? {};
  return reason === undefined ? `waiting for plugin ${metadata.name}` : `${reason}: ${message}`;
}
