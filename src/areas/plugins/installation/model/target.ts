import type { PluginManifest } from '../../../../api/adapstory.com/v1/plugin-manifest.ts';
import { MANAGED_LABEL, PLUGIN_LABEL, PUBLISHER_LABEL } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { pluginNamespaceOf } from './plugin-names.ts';

/** What an installation comes down to: this version of this plugin, for this tenant, in this namespace. */
export interface Target {
  tenant: string;
  plugin: string;
  publisher: string;
  namespace: string;
  installation: string;
  isSuspended: boolean;
  version: PluginVersion;
  manifest: PluginManifest;
}

export function targetOf({ metadata, spec }: PluginInstallation, version: PluginVersion, isSuspended: boolean): Target {
  const tenant = metadata.namespace!;
  const { publisher, plugin } = spec;
  return {
    tenant,
    plugin,
    publisher,
    namespace: pluginNamespaceOf(tenant, plugin),
    installation: metadata.name!,
    isSuspended,
    version,
    manifest: version.spec.manifest,
  };
}

/** The wanted version, and those that requests go to or went to a moment ago. */
export function versionsAtWork(
  installation: PluginInstallation,
  target: Target,
  version: (name: string) => PluginVersion | undefined,
): Target[] {
  const { publisher, plugin } = target;
  const others = (installation.status?.gateway?.routes ?? []).flatMap((route) => {
    const found = route.version === target.version.spec.version ? undefined : version(pluginVersionName(publisher, plugin, route.version));
    return found?.status?.image === undefined ? [] : [targetOf(installation, found, target.isSuspended)];
  });
  return [target, ...others];
}

/** The parts of an installation that keep objects in its namespace, each its own. */
export type Part = 'limits' | 'network' | 'identity' | 'secrets' | 'external-secrets' | 'owners' | 'database' | 'events' | 'workload';

export function labelsOf({ plugin, publisher }: Target, part: Part): Record<string, string> {
  return { [PLUGIN_LABEL]: plugin, [PUBLISHER_LABEL]: publisher, [MANAGED_LABEL]: part };
}
