import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginInstallationKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { ConfigMap, Namespace, Secret } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';
import { PluginWorld } from './plugin-world.ts';

const WITH_DATABASE = { database: { migrations: { path: 'db' } }, files: { 'db/001_notes.sql': 'CREATE TABLE notes (text text)' } };

describe('data of plugins', { timeout: 120_000 }, () => {
  let world: PluginWorld;
  let server: PostgresServer;
  let stopKubelet: () => Promise<void>;
  beforeAll(async () => {
    [world, server] = await Promise.all([PluginWorld.start(), startPostgres()]);
    await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
    const settings = { metadata: { name: 'plugin-platform' }, stringData: { 'postgres-dsn': server.dsn } };
    await world.client.resource(Secret, 'tenantry-system').create(settings);
    await Promise.all([world.publisher('acme', 'acme'), world.publisher('evil', 'evil'), world.tenants.node('worker')]);
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello', 'plugin-school-keys', 'plugin-shop-hello']);
    await world.version('acme', 'hello', '1.0.0', WITH_DATABASE);
    await world.version('acme', 'hello', '2.0.0');
    await world.version('evil', 'hello', '1.0.0', WITH_DATABASE);
    for (const publisher of ['acme', 'evil']) await world.version(publisher, 'keys', '1.0.0', { secrets: [{ name: 'api' }] });
  }, 120_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
    await server?.stop();
  }, 60_000);

  async function ask(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: server.dsn.replace(/postgres$/, database) });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }
  const left = async (tenant: string) =>
    (
      await ask(
        `SELECT datname AS name FROM pg_database WHERE datname = 'tenant_${tenant}' UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'plugin%${tenant}%'`,
      )
    ).map(({ name }) => name);

  async function uninstall(tenant: string, plugin: string): Promise<void> {
    await world.client.resource(PluginInstallationKind, tenant).delete(plugin);
    await world.tenants.eventually(async () => (await world.tenants.find(() => world.get(tenant, plugin))) === undefined);
  }
  async function removeTenant(tenant: string): Promise<void> {
    await world.client.resource(TenantKind).delete(tenant);
    await world.tenants.eventually(async () => (await world.tenants.find(() => world.tenants.get(tenant))) === undefined);
  }

  it('of a plugin that was uninstalled go with the tenant, and no later one of the name finds them', async () => {
    await world.tenants.tenant('shop');
    await world.install('shop', 'hello', { version: '1.0.0' });
    await world.phase('shop', 'hello', 'ACTIVE');
    await ask("INSERT INTO plugin_hello.notes VALUES ('of the first')", 'tenant_shop');
    await uninstall('shop', 'hello');
    expect(await ask('SELECT text FROM plugin_hello.notes', 'tenant_shop')).toHaveLength(1);
    await removeTenant('shop');
    await world.tenants.eventually(async () => (await left('shop')).length === 0);
    await world.tenants.tenant('shop');
    await world.install('shop', 'hello', { version: '1.0.0' });
    await world.phase('shop', 'hello', 'ACTIVE');
    expect(await ask('SELECT text FROM plugin_hello.notes', 'tenant_shop')).toEqual([]);
  });

  it('of a tenant wait for a server that is away, and so does the next tenant of the name', async () => {
    await uninstall('shop', 'hello');
    const settings = world.client.resource<KubeObject>(Secret, 'tenantry-system');
    const withDsn = (dsn: string) => settings.patch('plugin-platform', { type: 'merge', patch: { stringData: { 'postgres-dsn': dsn } } });
    await withDsn('postgresql://nobody@127.0.0.1:1/postgres');
    await removeTenant('shop');
    await world.tenants.tenant('shop');
    await world.install('shop', 'hello', { version: '1.0.0' });
    const { status } = await world.until('shop', 'hello', (each) => each.status?.message?.includes('earlier tenant') === true);
    expect(status).toMatchObject({ reason: 'DatabaseUnavailable' });
    await withDsn(server.dsn);
    await world.phase('shop', 'hello', 'ACTIVE');
    expect(await ask('SELECT text FROM plugin_hello.notes', 'tenant_shop')).toEqual([]);
  });

  it('are not for a plugin of the same name by another publisher, and not for it to delete', async () => {
    await world.tenants.tenant('school');
    await world.install('school', 'hello', { version: '1.0.0' });
    await world.phase('school', 'hello', 'ACTIVE');
    await ask("INSERT INTO plugin_hello.notes VALUES ('of acme')", 'tenant_school');
    await uninstall('school', 'hello');
    await world.install('school', 'hello', { publisher: 'evil', version: '1.0.0', data: 'Delete' });
    const { status } = await world.phase('school', 'hello', 'FAILED');
    expect(status!.reason).toBe('NameTaken');
    expect(status!.message).toContain('the tenant still has the database of "hello" by "acme"; to have them removed, uninstall this one');
    await uninstall('school', 'hello');
    expect(await ask('SELECT text FROM plugin_hello.notes', 'tenant_school')).toEqual([{ text: 'of acme' }]);
  });

  it('go with the plugin when its last version has no database any more', async () => {
    await world.install('school', 'hello', { version: '1.0.0', data: 'Delete' });
    await world.phase('school', 'hello', 'ACTIVE');
    await world.patch('school', 'hello', { version: '2.0.0' });
    await world.until('school', 'hello', ({ status }) => status?.version === '2.0.0' && status.phase === 'ACTIVE');
    expect(await left('school')).not.toEqual([]);
    await uninstall('school', 'hello');
    expect(await left('school')).toEqual([]);
    // And then the name is free.
    await world.install('school', 'hello', { publisher: 'evil', version: '1.0.0', data: 'Delete' });
    await world.phase('school', 'hello', 'ACTIVE');
    await uninstall('school', 'hello');
  });

  it('wait for a server that is not there, and say so', async () => {
    const settings = world.client.resource<KubeObject>(Secret, 'tenantry-system');
    const withDsn = (dsn: string) => settings.patch('plugin-platform', { type: 'merge', patch: { stringData: { 'postgres-dsn': dsn } } });
    await withDsn('nonsense');
    await world.install('school', 'hello', { version: '1.0.0', data: 'Delete' });
    const { status } = await world.until('school', 'hello', (each) => each.status?.reason === 'DatabaseUnavailable');
    expect(status!.message).toContain('postgres-dsn of the Secret tenantry-system/plugin-platform is no address');
    expect(status!.conditions).toContainEqual(expect.objectContaining({ type: 'NetworkIsolated', status: 'True' }));
    await withDsn(server.dsn);
    await world.phase('school', 'hello', 'ACTIVE');
    await uninstall('school', 'hello');
  });

  it('of which nobody knows any more are not served: what runs without an installation is removed', async () => {
    const metadata = (plugin: string, installation: string) => ({
      name: `plugin-school-${plugin}`,
      labels: {
        'tenantry.dev/role': 'plugin',
        'plugins.tenantry.dev/plugin': plugin,
        'plugins.tenantry.dev/publisher': 'acme',
      },
      annotations: { 'plugins.tenantry.dev/installation': `school/${installation}` },
    });
    await world.client.resource(Namespace).create({ metadata: metadata('ghost', 'ghost') });
    await world.tenants.eventually(async () => (await world.find('plugin-school-ghost')) === undefined);
    // By the way that leads to it.
    await world.install('school', 'hello', { version: '1.0.0' });
    await world.phase('school', 'hello', 'ACTIVE');
    const installations = world.client.resource(PluginInstallationKind, 'school');
    await Promise.all([
      installations.delete('hello'),
      installations.patch('hello', { type: 'merge', patch: { metadata: { finalizers: null } } }).catch(() => {}),
    ]);
    await world.tenants.eventually(async () => (await world.find('plugin-school-hello')) === undefined);
    expect(await left('school')).toContain('tenant_school');
    await world.tenants.eventually(async () => (await world.tenants.find(() => world.get('school', 'hello'))) === undefined);
    await world.install('school', 'hello', { version: '1.0.0', data: 'Delete' });
    await world.phase('school', 'hello', 'ACTIVE');
    await uninstall('school', 'hello');
  });

  it('that are secrets have an owner, too', async () => {
    const stored = world.client.resource<KubeObject>(Secret, 'tenantry-system');
    const metadata = {
      name: 'school-keys',
      labels: { 'plugins.tenantry.dev/stored-secret': 'true' },
      annotations: { 'plugins.tenantry.dev/secret-path': 'adapstory/plugins/keys/school/api' },
    };
    await stored.create({ metadata, stringData: { key: 'of acme' } });
    await world.install('school', 'keys', { version: '1.0.0' });
    await world.phase('school', 'keys', 'ACTIVE');
    await uninstall('school', 'keys');
    await world.install('school', 'keys', { publisher: 'evil', version: '1.0.0', data: 'Delete' });
    expect((await world.phase('school', 'keys', 'FAILED')).status).toMatchObject({ reason: 'NameTaken' });
    await uninstall('school', 'keys');
    expect((await stored.get('school-keys')).metadata.name).toBe('school-keys');
    await world.install('school', 'keys', { version: '1.0.0', data: 'Delete' });
    await world.phase('school', 'keys', 'ACTIVE');
    await uninstall('school', 'keys');
    expect(await world.tenants.find(() => stored.get('school-keys'))).toBeUndefined();
    const claims = await world.client.resource<KubeObject>(ConfigMap, 'tenantry-system').get('plugin-data-of-school');
    expect(claims.data).toEqual({ tenant: 'school' });
  });
});
