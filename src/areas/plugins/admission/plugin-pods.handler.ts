import { PLUGIN_LABEL, PUBLISHER_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginVersionKind, type PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { PLUGIN_ROLE, ROLE_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { Namespace } from '../../../client/kinds.ts';
import type { AdmissionHandler } from '../../../runtime/admission/review.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { podProblem, type PluginOfNamespace } from './pod-images.ts';

const BY_PLUGIN = 'plugin';
const pluginKey = ({ publisher, plugin }: PluginOfNamespace): string => `${publisher}/${plugin}`;

/** Only images that are verified for the plugin of a namespace run in it, whoever makes the Pod. */
export async function pluginPodsHandler(client: Client, informers: SharedInformers): Promise<AdmissionHandler> {
  const versions = informers.get(PluginVersionKind, { transform: withoutContent });
  versions.addIndex(BY_PLUGIN, ({ spec }) => [pluginKey(spec)]);
  await versions.whenSynced();
  return async ({ namespace, object, oldObject, operation }) => {
    if (!object || operation === 'DELETE') return { allowed: true };
    const plugin = await pluginOf(client, namespace!);
    if (plugin === undefined) {
      return refusal(
        `Cannot run a Pod in "${namespace}": it is a namespace for plugins, but says not of which; only the platform makes those`,
      );
    }
    if (podProblem(object, oldObject, plugin, versions.byIndex(BY_PLUGIN, pluginKey(plugin))) === undefined) return { allowed: true };
    // The cache may be a moment behind the controller that has just verified it.
    const fieldSelector = `spec.plugin=${plugin.plugin},spec.publisher=${plugin.publisher}`;
    const { items } = await client.resource(PluginVersionKind).list({ fieldSelector });
    const problem = podProblem(object, oldObject, plugin, items);
    return problem === undefined ? { allowed: true } : refusal(problem);
  };
}

function refusal(message: string) {
  return { allowed: false as const, message, auditAnnotations: { 'plugins.tenantry.dev/refused': 'ImageNotVerified' } };
}

async function pluginOf(client: Client, namespace: string): Promise<PluginOfNamespace | undefined> {
  const { metadata } = await client.resource(Namespace).get(namespace);
  const { [PUBLISHER_LABEL]: publisher, [PLUGIN_LABEL]: plugin, [ROLE_LABEL]: role } = metadata?.labels ?? {};
  return role === PLUGIN_ROLE && publisher && plugin ? { publisher, plugin } : undefined;
}

/** Manifests and migrations are large, and no business of admission. */
function withoutContent(version: PluginVersion): PluginVersion {
  const { publisher, plugin, version: number } = version.spec;
  return { ...version, spec: { publisher, plugin, version: number } as PluginVersion['spec'] };
}
