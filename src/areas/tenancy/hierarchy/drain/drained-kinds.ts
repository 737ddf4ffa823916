import type { Kind } from '../../../../kube/kind.ts';

/**
 * Objects whose finalizers are served by a controller that needs rights inside the namespace: they go before the namespace does, because
 * with the namespace goes the RoleBinding, and then nobody can finish them.
 */
export const DRAINED_KINDS: readonly Kind[] = [
  { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledObject', plural: 'scaledobjects', namespaced: true },
  { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledJob', plural: 'scaledjobs', namespaced: true },
  { group: 'keda.sh', version: 'v1alpha1', kind: 'TriggerAuthentication', plural: 'triggerauthentications', namespaced: true },
  { group: 'plugins.tenantry.dev', version: 'v1alpha1', kind: 'PluginInstallation', plural: 'plugininstallations', namespaced: true },
];

/** The name of the CustomResourceDefinition that serves a kind. */
export function definitionOf({ plural, group }: { plural: string; group: string }): string {
  return `${plural}.${group}`;
}
