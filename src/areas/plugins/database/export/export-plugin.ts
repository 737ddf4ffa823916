import { EMBEDDED_POSTGRES, PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../../client/client.ts';
import { Secret } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { embeddedDsn } from '../embedded/server-settings.ts';
import { DSN_KEY } from '../platform-database.ts';
import { PluginDatabases } from '../plugin-databases.ts';

/**
 * What `tenantry plugin export` writes: the schema of one plugin, structure and rows, as SQL for `psql`. For administrators: the way to the
 * server is read from the platform's Secrets; the one of the platform's own is reached only on its machine.
 * @throws Error when there is no server, or no database of the tenant
 */
export async function exportPlugin(
  client: Client,
  tenant: string,
  plugin: string,
  write: (text: string) => Promise<void> | void,
): Promise<void> {
  const dsn = (await dsnOf(client, PLATFORM_SETTINGS, ({ [DSN_KEY]: given }) => given?.trim())) ?? (await ownDsn(client));
  if (dsn === undefined) throw new Error(`Cannot export "${plugin}": there is no PostgreSQL; no plugin has needed one yet`);
  await new PluginDatabases({ dsn }).export(tenant, plugin, write);
}

function ownDsn(client: Client): Promise<string | undefined> {
  return dsnOf(client, EMBEDDED_POSTGRES, ({ password, port }) =>
    password === undefined ? undefined : embeddedDsn({ password, port: Number(port) }),
  );
}

async function dsnOf(
  client: Client,
  name: string,
  read: (entries: Record<string, string | undefined>) => string | undefined,
): Promise<string | undefined> {
  try {
    const { data = {} } = await client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE).get(name);
    return read(Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()])));
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}
