import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { compareVersions, isPrerelease } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-order.ts';

export type Wanted = { version: string } | { reason: string; message: string };

/**
 * Which version an installation should run: what a rollback leads to, else what is asked for unless it was taken back, else what is there,
 * else the newest good one.
 */
export function wantedVersion(installation: PluginInstallation, versions: readonly PluginVersion[]): Wanted {
  const { spec, status = {} } = installation;
  if (spec.rollback) return rollbackTarget(installation, versions);
  const kept = spec.version ?? status.target?.version ?? status.version;
  if (kept !== undefined && kept === status.rejected?.version && status.version !== undefined) return { version: status.version };
  if (kept !== undefined) return { version: kept };
  const verified = versions.filter((each) => each.status?.phase === 'VERIFIED').map((each) => each.spec.version);
  const finished = verified.filter((each) => !isPrerelease(each));
  const newest = (finished.length > 0 ? finished : verified).sort(compareVersions).at(-1);
  if (newest !== undefined) return { version: newest };
  const { publisher, plugin } = spec;
  const message = `Cannot install "${plugin}": "${publisher}" has no verified version of it; publish one`;
  return { reason: InstallationReason.VersionNotFound, message };
}

/** Back to a version that was at work and healthy. Which one is decided once per request. */
function rollbackTarget({ spec, status = {} }: PluginInstallation, versions: readonly PluginVersion[]): Wanted {
  const { request, to } = spec.rollback!;
  const current = status.target?.version ?? status.version;
  if (status.observedRollback === request && current !== undefined) return { version: current };
  const good = (status.history ?? []).filter(
    ({ version, isKnownGood }) => isKnownGood && (to === undefined ? version !== current : version === to),
  );
  const target = good.at(-1)?.version;
  if (target === undefined) {
    const known = (status.history ?? []).filter(({ isKnownGood }) => isKnownGood).map(({ version }) => version);
    const state = to === undefined ? 'there is no version before it that was healthy' : `${to} was never healthy here`;
    const message = `Cannot roll back "${spec.plugin}": ${state}; known good: ${[...new Set(known)].join(', ') || 'none'}`;
    return { reason: InstallationReason.NoKnownGood, message };
  }
  const contract = contractBetween(target, status.history ?? [], current, versions);
  if (contract === undefined) return { version: target };
  const message = `Cannot roll back "${spec.plugin}" to ${target}: ${contract} took away what ${target} needs from its database; publish a version that works with what is there`;
  return { reason: InstallationReason.RollbackForbidden, message };
}

function contractFiles({ spec }: PluginVersion): string[] {
  return spec.manifest.spec.database?.migrations?.contract ?? [];
}

/** The version whose migrations took away what the target may still use. */
export function contractBetween(
  target: string,
  history: readonly { version: string }[],
  current: string | undefined,
  versions: readonly PluginVersion[],
): string | undefined {
  const since = history.slice(history.findLastIndex(({ version }) => version === target) + 1).map(({ version }) => version);
  const passed = new Set(current === undefined ? since : [...since, current]);
  // Files stay declared in the versions that follow: what the target itself has took nothing away from it.
  const known = new Set(versions.filter(({ spec }) => spec.version === target).flatMap(contractFiles));
  return versions.find(
    (version) =>
      passed.has(version.spec.version) && version.spec.version !== target && contractFiles(version).some((file) => !known.has(file)),
  )?.spec.version;
}
