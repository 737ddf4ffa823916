import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { compareVersions, isPrerelease } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-order.ts';

type Status = NonNullable<PluginInstallation['status']>;

/** Why something cannot be. */
export interface Impossible {
  reason: string;
  message: string;
}

/** `refusal`: of the rollback that is asked for; meanwhile all stays where it is. */
export type Wanted = { version: string; refusal?: Impossible } | Impossible;

/**
 * Which version an installation should run: what a rollback leads to, else what is asked for unless it was taken back, else what is there,
 * else the newest good one.
 */
export function wantedVersion(installation: PluginInstallation, versions: readonly PluginVersion[]): Wanted {
  const { spec, status = {} } = installation;
  const rollback = isRollingBack(installation) ? rollbackTarget(installation, versions) : undefined;
  if (rollback && 'version' in rollback) return rollback;
  // A rollback that was refused holds what is there, like one that was not: what is asked for otherwise is what somebody wanted to leave.
  const held = spec.rollback && (status.target?.version ?? status.version);
  const kept = held ?? spec.version ?? status.target?.version ?? status.version;
  const wanted = withoutRollback(installation, kept, versions);
  return rollback && 'version' in wanted ? { ...wanted, refusal: rollback } : wanted;
}

/** A rollback is asked for, and was not refused. */
export function isRollingBack({ spec, status }: PluginInstallation): boolean {
  return spec.rollback !== undefined && spec.rollback.request !== status?.refusedRollback;
}

/** Whether a version got so far that its migrations are applied. */
export function isDeployed({ version, target, gateway, history = [] }: Status, of: string): boolean {
  const isAimedAt = target?.version === of && target.isDeployed === true;
  return isAimedAt || version === of || [...(gateway?.routes ?? []), ...history].some((each) => each.version === of);
}

/** Build metadata (`+x`) is no part of what a version is. */
export function isSameVersion(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && (a === b || compareVersions(a, b) === 0);
}

function withoutRollback({ spec, status = {} }: PluginInstallation, kept: string | undefined, versions: readonly PluginVersion[]): Wanted {
  if (isSameVersion(kept, status.rejected?.version) && status.version !== undefined) return { version: status.version };
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
    ({ version, isKnownGood }) => isKnownGood && (to === undefined ? version !== current : isSameVersion(version, to)),
  );
  const target = good.at(-1)?.version;
  if (target === undefined) {
    const known = (status.history ?? []).filter(({ isKnownGood }) => isKnownGood).map(({ version }) => version);
    const state = to === undefined ? 'there is no version before it that was healthy' : `${to} was never healthy here`;
    const message = `Cannot roll back "${spec.plugin}": ${state}; known good: ${[...new Set(known)].join(', ') || 'none'}`;
    return { reason: InstallationReason.NoKnownGood, message };
  }
  const applied = current !== undefined && isDeployed(status, current) ? current : undefined;
  const contract = contractBetween(target, status.history ?? [], applied, versions);
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
