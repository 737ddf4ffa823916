import { PluginInstallationKind, type PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName, type PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Client } from '../../../client/client.ts';
import type { AdmissionHandler } from '../../../runtime/admission/review.ts';

/** A version that somebody runs or may go back to stays: without it no Pod of it starts again, and its number could come to mean another image. */
export function pluginVersionsHandler(client: Client): AdmissionHandler {
  return async ({ operation, oldObject }) => {
    if (operation !== 'DELETE' || !oldObject) return { allowed: true };
    const { metadata, spec } = oldObject as unknown as PluginVersion;
    const { items } = await client.resource(PluginInstallationKind).list({ fieldSelector: `spec.plugin=${spec.plugin}` });
    const users = items.filter((installation) => versionsOf(installation).has(metadata.name!));
    if (users.length === 0) return { allowed: true };
    const named = users.slice(0, 3).map(({ metadata: of }) => `${of.namespace}/${of.name}`);
    const more = users.length > named.length ? ` and ${users.length - named.length} more` : '';
    const message =
      `Cannot delete version "${metadata.name}": ${named.join(', ')}${more} run it or may go back to it; ` +
      'uninstall those first, or publish another version';
    return { allowed: false, message, reason: 'Forbidden', code: 403 };
  };
}

/** The names of the versions that an installation needs. */
export function versionsOf({ spec, status }: PluginInstallation): Set<string> {
  const known = (status?.history ?? []).filter(({ isKnownGood }) => isKnownGood).map(({ version }) => version);
  const numbers = [status?.version, status?.target?.version, ...known].filter((version) => version !== undefined);
  return new Set(numbers.map((version) => pluginVersionName(spec.publisher, spec.plugin, version)));
}
