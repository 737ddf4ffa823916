import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Session } from '../krt/session.ts';

export const WAIT_MS = 300_000;

/** Watches an installation until it is as wanted; says in passing what it waits for. @returns undefined when it is gone */
export async function waitForInstallation(
  session: Session,
  { tenant, name }: { tenant: string; name: string },
  isDone: (installation: PluginInstallation) => boolean,
): Promise<PluginInstallation | undefined> {
  const installations = session.cluster.client.resource(PluginInstallationKind, tenant);
  const signal = AbortSignal.timeout(WAIT_MS);
  let said = '';
  try {
    // It may be gone, or done, before a watch could tell.
    const first = await installations.get(name).catch((error: unknown) => {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    });
    if (!first || isDone(first)) return first;
    const { resourceVersion } = first.metadata;
    for await (const update of installations.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion, signal })) {
      if (update.type === 'DELETED') return undefined;
      if (!('object' in update) || update.object.metadata.name !== name) continue;
      const installation = update.object;
      if (isDone(installation)) return installation;
      const waits = waitsFor(installation);
      if (waits !== said && session.errIsTerminal) session.err(`${waits}\n`);
      said = waits;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    const how = `\`tenantry plugin get ${name} --tenant ${tenant}\` shows how it is`;
    throw new Error(`Cannot wait any longer for plugin "${name}": ${said || 'nothing happened'}; ${how}`, { cause: error });
  }
  return undefined;
}

/** The controller has seen what was asked for, and is at rest. */
export function isSettled({ metadata, status }: PluginInstallation): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  return status?.phase === 'FAILED' || status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
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
  session.out(`plugin ${name} ${version} is ${phase}\n`);
  return 0;
}

function waitsFor({ metadata, status }: PluginInstallation): string {
  const { reason, message } = status ?? {};
  return reason === undefined ? `waiting for plugin ${metadata.name}` : `${reason}: ${message}`;
}
