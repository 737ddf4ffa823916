import { PluginInstallationKind } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { followedVersion } from './model/followed-version.ts';
import { policyFor } from './model/policy-for.ts';

/**
 * Takes installations to new versions as the policies of their tenants say. It does what a person would: it sets `spec.version`. So the
 * installation always says what it should run, and a policy that is changed or taken away leaves everything where it is.
 */
export function followController(environment: PluginsEnvironment, { installations, versions, policies }: InstallationParts): Controller {
  const { client, events } = environment;
  const reconcile = async (key: string): Promise<void> => {
    const installation = installations.get(key);
    if (!installation) return;
    const { metadata, spec } = installation;
    const tenant = metadata.namespace!;
    const policy = policyFor(spec.plugin, policies.byIndex('tenant', tenant));
    const next = followedVersion(installation, versions.byIndex('plugin', `${spec.publisher}/${spec.plugin}`), policy);
    if (next === undefined) return;
    // Only if it is as it was looked at: somebody may have asked for something else meanwhile.
    const patch = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { version: next } };
    await client
      .resource(PluginInstallationKind, tenant)
      .patch(metadata.name!, { type: 'merge', patch }, { fieldManager: 'tenantry-plugin-policies' });
    const message = `the policy "${policy!.metadata.name}" (${policy!.spec.mode}) takes it from ${installation.status!.version} to ${next}`;
    events.record(installation, { type: 'Normal', reason: 'VersionFollowed', action: 'Upgrade', message });
  };
  return new Controller({ ...environment, name: 'plugin-follow', reconcile })
    .watch(installations)
    .watch(versions, ({ object: { spec } }) => installations.byIndex('plugin', `${spec.publisher}/${spec.plugin}`).map(keyOf))
    .watch(policies, ({ object }) => installations.byIndex('tenant', object.metadata.namespace!).map(keyOf));
}
