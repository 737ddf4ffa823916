import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { databaseNames } from '../database/database-names.ts';
import { pluginNamespaceOf } from '../installation/model/plugin-names.ts';
import type { Asker } from './model/api-attempt.ts';

/** Whose a namespace, a role or an address is. */
export class PluginOwners {
  readonly #installations: Informer<PluginInstallation>;
  readonly #pods: Informer;

  /** `pods`: those of plugins, with their status. */
  constructor(installations: Informer<PluginInstallation>, pods: Informer) {
    this.#installations = installations;
    this.#pods = pods;
    installations.addIndex('role', ({ metadata, spec }) => {
      const { runtime, second, migrator } = databaseNames(metadata.namespace!, spec.plugin);
      return [runtime, second, migrator];
    });
    pods.addIndex('address', ({ status }) =>
      ((status?.podIPs ?? []) as { ip?: string }[]).flatMap(({ ip }) => (ip === undefined ? [] : [ip])),
    );
  }

  byNamespace(namespace: string): Asker | undefined {
    return asker(this.#installations.byIndex('namespace', namespace)[0]);
  }

  byName(tenant: string, plugin: string): Asker {
    return { tenant, plugin, namespace: pluginNamespaceOf(tenant, plugin) };
  }

  byRole(role: string): Asker | undefined {
    return asker(this.#installations.byIndex('role', role)[0]);
  }

  byAddress(address: string): Asker | undefined {
    const namespace = this.#pods.byIndex('address', address)[0]?.metadata.namespace;
    return namespace === undefined ? undefined : this.byNamespace(namespace);
  }
}

function asker(installation: PluginInstallation | undefined): Asker | undefined {
  if (!installation) return undefined;
  const { metadata, spec } = installation;
  return { tenant: metadata.namespace!, plugin: spec.plugin, namespace: pluginNamespaceOf(metadata.namespace!, spec.plugin) };
}
