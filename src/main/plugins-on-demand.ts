import { hostname } from 'node:os';
import { join } from 'node:path';
import { PLUGINS_USER } from '../areas/plugins/plugins-rights.ts';
import type { FollowRefusals } from '../areas/plugins/audit/attempt-source.ts';
import type { EmbeddedDatabase } from '../areas/plugins/database/platform-database.ts';
import type { TenantHomes } from '../areas/plugins/placement/tenant-home.ts';
import type { Client } from '../client/client.ts';
import type { OnDemand } from '../engine/controllers/start-on-demand.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import type { NodeSupervisor } from './node-supervisor.ts';

/** The plugins area starts with the first Publisher, version or installation. */
export function pluginsOnDemand(
  clientAs: (user: { name: string; groups: string[] }) => Client,
  data: string,
  node?: NodeSupervisor,
  followRefusals?: FollowRefusals,
  homes?: TenantHomes,
): OnDemand {
  return {
    resources: ['publishers', 'pluginversions', 'plugininstallations'].map((plural) => `plugins.tenantry.dev/${plural}`),
    async load() {
      const [{ startPlugins }, { pluginRegistry }, { registriesPath }] = await Promise.all([
        import('../areas/plugins/start-plugins.ts'),
        import('./plugin-registry.ts'),
        import('./registries-file.ts'),
      ]);
      const registry = await pluginRegistry(registriesPath(data));
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:tenantry-system', 'system:authenticated'];
      const client = clientAs({ name: PLUGINS_USER, groups });
      return ({ clock, log, metrics = new MetricsRegistry() }) =>
        startPlugins({
          client,
          clock,
          log,
          metrics,
          registry,
          embeddedDatabase: databaseOf(client, data, clock, log, node),
          followRefusals,
          homes,
          instance: hostname(),
        });
    },
  };
}

/** Neither its code nor its processes are there before somebody asks for it. */
function databaseOf(client: Client, data: string, clock: Clock, log: Log, node: NodeSupervisor | undefined): EmbeddedDatabase {
  const loaded = async () => {
    const [{ EmbeddedServer }, { serverSecret }, { newPassword }] = await Promise.all([
      import('../areas/plugins/database/embedded/embedded-server.ts'),
      import('../areas/plugins/database/embedded/server-secret.ts'),
      import('../areas/plugins/database/database-login.ts'),
    ]);
    const podAddress = async () => (node ? (await import('./address-for-pods.ts')).addressForPods(node, data) : '127.0.0.1');
    return new EmbeddedServer({ folder: join(data, 'postgres'), clock, log, secret: serverSecret(client), podAddress, newPassword });
  };
  let server: ReturnType<typeof loaded> | undefined;
  return {
    open: async () => (await (server ??= loaded())).open(),
    stop: async () => (await server)?.stop(),
  };
}
