import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginPolicy } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import type { PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { compareVersions, isPrerelease } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-order.ts';

type Installed = Pick<PluginInstallation, 'metadata' | 'spec' | 'status'>;

/** At rest: what is on its way gets there, or fails, before it is sent somewhere else. */
const AT_REST: readonly unknown[] = ['ACTIVE', 'FAILED', 'ROLLED_BACK'];

/**
 * The version that a policy takes an installation to; undefined when it leaves it where it is. Only ever up, inside one major version, to
 * what is finished and verified now, and never again to what was taken back here. A rollback that somebody asked for holds.
 */
export function followedVersion(
  { metadata, spec, status = {} }: Installed,
  versions: readonly PluginVersion[],
  policy: PluginPolicy | undefined,
): string | undefined {
  if (policy === undefined || policy.spec.mode === 'pinned' || spec.rollback !== undefined) return undefined;
  if (metadata.deletionTimestamp !== undefined || status.observedGeneration !== metadata.generation || !AT_REST.includes(status.phase))
    return undefined;
  // What is installed first is not for the policy to say.
  const from = [spec.version, status.version]
    .filter((each) => each !== undefined)
    .toSorted(compareVersions)
    .at(-1);
  if (status.version === undefined || from === undefined) return undefined;
  const left = leftVersions(status);
  // Of what is at work: what is asked for may have been taken back.
  const major = majorOf(status.version);
  return versions
    .filter(({ status: found }) => found?.phase === 'VERIFIED')
    .map((each) => each.spec.version)
    .filter((each) => !isPrerelease(each) && majorOf(each) === major && compareVersions(each, from) > 0 && !left.has(each))
    .toSorted(compareVersions)
    .at(-1);
}

/** What was at work and was left by a rollback, or never got so far. */
function leftVersions({ history = [], rejected }: NonNullable<PluginInstallation['status']>): Set<string> {
  const last = new Map(history.map(({ version, isKnownGood }) => [version, isKnownGood]));
  const bad = [...last].filter(([, isKnownGood]) => isKnownGood === false).map(([version]) => version);
  return new Set(rejected === undefined ? bad : [...bad, rejected.version]);
}

/** Before 1.0.0 every minor version may break: SemVer's own rule. */
function majorOf(version: string): string {
  const [major, minor] = version.split('.');
  return major === '0' ? `0.${minor}` : major;
}
