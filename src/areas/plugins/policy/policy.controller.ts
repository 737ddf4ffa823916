import { PluginPolicyKind, type PluginPolicy } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-policy.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { done, stalled } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import { stepReconciler } from '../../../runtime/steps/step-reconciler.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { takenByOthers } from './model/policy-for.ts';

/** Tells every PluginPolicy whether it is in force. */
export function policyController(environment: PluginsEnvironment, { policies, namespaces, namespaceCache }: InstallationParts): Controller {
  const { client, clock } = environment;
  const reconcile = stepReconciler<PluginPolicy>({
    clock,
    read: (key) => policies.get(key),
    resource: (namespace) => client.resource(PluginPolicyKind, namespace),
    fieldManager: 'tenantry-plugin-policies',
    steps: [
      inForce(
        (namespace) => namespaces.isTenant(namespace),
        (namespace) => policies.byIndex('tenant', namespace),
      ),
    ],
  });
  const ofTenant = (tenant: string) => policies.byIndex('tenant', tenant).map(keyOf);
  return (
    new Controller({ ...environment, name: 'plugin-policy', reconcile })
      // One that comes or goes changes which of the others hold.
      .watch(policies, ({ object }) => ofTenant(object.metadata.namespace!))
      .watch(namespaceCache, ({ object }) => ofTenant(object.metadata.name!))
  );
}

export function inForce(
  isTenant: (namespace: string) => boolean,
  policiesOf: (namespace: string) => readonly PluginPolicy[],
): Step<PluginPolicy> {
  return {
    name: 'InForce',
    run(policy) {
      const namespace = policy.metadata.namespace!;
      if (!isTenant(namespace)) {
        return stalled('NotATenant', `${namespace} is not the root namespace of a tenant; make the policy there`);
      }
      const taken = takenByOthers(policy, policiesOf(namespace));
      if (taken.length === 0) return done('InForce');
      const others = taken.map(
        ({ plugin, by }) => `the policy "${by}" holds ${plugin === '*' ? 'all plugins that none names' : `"${plugin}"`}`,
      );
      return stalled('Overridden', `${others.join(', ')}; the older one counts: change or delete one of them`);
    },
  };
}
