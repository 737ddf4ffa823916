import { hostname } from 'node:os';
import { PLUGINS_USER } from '../areas/plugins/plugins-rights.ts';
import type { Client } from '../client/client.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import { MetricsRegistry } from '../lib/metrics.ts';

/** The plugins area starts with the first Publisher, version or installation. */
export function pluginsOnDemand(clientAs: (user: { name: string; groups: string[] }) => Client, data: string): OnDemand {
  return {
    resources: ['publishers', 'pluginversions', 'plugininstallations'].map((plural) => `plugins.tenantry.dev/${plural}`),
    async load() {
      const [{ startPlugins }, { pluginRegistry }, { registriesPath }] = await Promise.all([
        import('../areas/plugins/start-plugins.ts'),
        import('./plugin-registry.ts'),
        import('./node-images.ts'),
      ]);
      const registry = await pluginRegistry(registriesPath(data));
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:tenantry-system', 'system:authenticated'];
      const client = clientAs({ name: PLUGINS_USER, groups });
      return ({ clock, log, metrics = new MetricsRegistry() }) =>
        startPlugins({ client, clock, log, metrics, registry, instance: hostname() });
    },
  };
}
