import type { PluginManifest } from '../../../api/adapstory.com/v1/plugin-manifest.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import { versionsAtWork } from '../installation/model/target.ts';
import { eventTypesOf } from './model/wanted-events.ts';
import type { EventsOf } from './plugin-events.ts';

type Parts = Pick<InstallationParts, 'installations' | 'versions' | 'target'>;

/** What an installation has at the broker; undefined when the version that it aims at is gone. */
export function eventsOf(installation: PluginInstallation, { versions, target: targetOf }: Parts): EventsOf | undefined {
  const { spec, status } = installation;
  if (!versions.get(pluginVersionName(spec.publisher, spec.plugin, status?.target?.version ?? ''))) return undefined;
  const target = targetOf(installation);
  return { installation, target, versions: versionsAtWork(installation, target, (name) => versions.get(name)) };
}

/** Those of the versions that an installation has or had, as far as they are still there. */
export function manifestsOf({ spec, status }: PluginInstallation, { versions }: Pick<Parts, 'versions'>): PluginManifest[] {
  const names = [status?.target?.version, status?.version, ...(status?.history ?? []).map(({ version }) => version)];
  return [...new Set(names)].flatMap((version) => {
    const found = version === undefined ? undefined : versions.get(pluginVersionName(spec.publisher, spec.plugin, version));
    return found ? [found.spec.manifest] : [];
  });
}

/** Event types that the other plugins of the same tenant name. */
export function namedByOthers({ metadata }: PluginInstallation, parts: Parts): string[] {
  const others = parts.installations
    .byIndex('tenant', metadata.namespace!)
    .filter((other) => other.metadata.name !== metadata.name && other.metadata.deletionTimestamp === undefined);
  const { consumes, produces } = eventTypesOf(others.flatMap((other) => manifestsOf(other, parts)));
  return [...consumes, ...produces];
}
