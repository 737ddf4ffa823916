import { INSTALLATION_ANNOTATION, PLUGIN_LABEL, PUBLISHER_LABEL } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PLUGIN_ROLE, ROLE_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { pluginNamespaceOf } from './plugin-names.ts';

/** Whose a namespace is, by what is written on it. */
export interface NamespaceOwner {
  tenant: string;
  installation: string;
  plugin: string;
  publisher: string;
}

/** Undefined: it is not one that a plugin runs in. */
export function namespaceOwner({ metadata }: KubeObject): NamespaceOwner | undefined {
  const [tenant, installation] = metadata.annotations?.[INSTALLATION_ANNOTATION]?.split('/') ?? [];
  const { [PLUGIN_LABEL]: plugin, [PUBLISHER_LABEL]: publisher, [ROLE_LABEL]: role } = metadata.labels ?? {};
  if (role !== PLUGIN_ROLE || !tenant || !installation || !plugin || !publisher) return undefined;
  return metadata.name === pluginNamespaceOf(tenant, plugin) ? { tenant, installation, plugin, publisher } : undefined;
}

/** Its installation is gone, or is another one of the same name. */
export function isOrphaned({ plugin, publisher }: NamespaceOwner, installation: PluginInstallation | undefined): boolean {
  return installation?.spec.plugin !== plugin || installation.spec.publisher !== publisher;
}
