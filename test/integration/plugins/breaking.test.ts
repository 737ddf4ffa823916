import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CrossTenantAttemptKind } from '../../../src/api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { embeddedDsn } from '../../../src/areas/plugins/database/embedded/server-settings.ts';
import { audit } from '../../../src/cli/audit/audit.ts';
import { Namespace, Secret } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { connectTarget, type ApiTarget } from '../../support/api-target.ts';
import { PluginWorld } from './plugin-world.ts';

const DATABASE = { migrations: { path: 'db' } };
const FILES = { 'db/001_notes.sql': 'CREATE TABLE notes (text text)' };

describe('the real credentials of a plugin, against everything of others', { timeout: 120_000 }, () => {
  let world: PluginWorld;
  let stopKubelet: () => Promise<void>;
  beforeAll(async () => {
    world = await PluginWorld.start();
    const platform = world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
    await Promise.all([platform, world.publisher('acme', 'acme'), world.tenants.node('worker')]);
    for (const tenant of ['school', 'rival']) await world.tenants.tenant(tenant);
    stopKubelet = world.tenants.playKubelet(['plugin-school-hello', 'plugin-school-other', 'plugin-rival-hello']);
    for (const plugin of ['hello', 'other']) {
      await world.version('acme', plugin, '1.0.0', { database: DATABASE, files: FILES, secrets: [{ name: 'api', property: 'key' }] });
    }
    const installed: [string, string][] = [
      ['school', 'hello'],
      ['school', 'other'],
      ['rival', 'hello'],
    ];
    for (const [tenant, plugin] of installed) {
      const metadata = {
        name: `${tenant}-${plugin}`,
        labels: { 'plugins.tenantry.dev/stored-secret': 'true' },
        annotations: { 'plugins.tenantry.dev/secret-path': `adapstory/plugins/${plugin}/${tenant}/api` },
      };
      await world.client.resource(Secret, 'tenantry-system').create({ metadata, stringData: { key: `${tenant} ${plugin}` } });
      await world.install(tenant, plugin, { version: '1.0.0' });
    }
    for (const [tenant, plugin] of installed) await world.phase(tenant, plugin, 'ACTIVE');
  }, 120_000);
  afterAll(async () => {
    await stopKubelet?.();
    await world?.stop();
  }, 60_000);

  async function accessOf(namespace: string): Promise<Record<string, string>> {
    const { data } = await world.client.resource<KubeObject>(Secret, namespace).get('plugin-database');
    return Object.fromEntries(
      Object.entries(data as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** As plugin hello of school, with what its Pod has. */
  async function query(sql: string, over: { database?: string; user?: string } = {}): Promise<unknown[]> {
    const { host, port, database, user, password } = await accessOf('plugin-school-hello');
    const client = new Client({ host, port: Number(port), database, user, password, ...over });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async function asPlugin(): Promise<ApiTarget> {
    const { url, kubeconfig } = world.target;
    const ca = readFileSync(join(dirname(kubeconfig), 'pki/ca.crt'), 'utf8');
    const token = await world.token('plugin-school-hello');
    return connectTarget({ name: 'plugin', url, kubeconfig, ca, token, close: () => Promise.resolve() });
  }

  const attempts = async () => (await world.client.resource(CrossTenantAttemptKind, 'school').list()).items.map(({ spec }) => spec);

  it('are good for what is its own', async () => {
    await query("INSERT INTO notes VALUES ('mine')");
    expect(await query('SELECT * FROM notes')).toEqual([{ text: 'mine' }]);
  });

  const REQUESTS: [string, string, object?][] = [
    ...['plugin-rival-hello', 'plugin-school-other', 'rival', 'tenantry-system'].flatMap((namespace): [string, string, object?][] => [
      ['GET', `/api/v1/namespaces/${namespace}/secrets`],
      ['GET', `/api/v1/namespaces/${namespace}/secrets/plugin-token`],
      ['GET', `/api/v1/namespaces/${namespace}/pods`],
      ['POST', `/api/v1/namespaces/${namespace}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }],
      ['GET', `/apis/apps/v1/namespaces/${namespace}/deployments/plugin`],
      ['DELETE', `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/default-deny`],
      ['GET', `/apis/plugins.tenantry.dev/v1alpha1/namespaces/${namespace}/plugininstallations`],
      [
        'POST',
        `/api/v1/namespaces/${namespace}/serviceaccounts/plugin/token`,
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      ],
    ]),
    ['GET', '/api/v1/secrets'],
    ['GET', '/api/v1/namespaces'],
    ['GET', '/apis/tenantry.dev/v1alpha1/tenants'],
    ['DELETE', '/apis/plugins.tenantry.dev/v1alpha1/pluginversions/acme.other.1.0.0'],
  ];

  it('are refused by the API server, and what was tried is on record', async () => {
    const plugin = await asPlugin();
    for (const [method, path, body] of REQUESTS) expect([path, (await plugin.request(method, path, body)).status]).toEqual([path, 403]);
    await world.tenants.eventually(async () => (await attempts()).filter(({ kind }) => kind === 'api').length === REQUESTS.length);
    expect((await attempts()).map(({ target }) => target)).toContain('get secrets plugin-rival-hello/plugin-token');
    expect((await attempts()).every(({ plugin: name, rule }) => name === 'hello' && rule === 'rbac')).toBe(true);
  });

  it('are refused by PostgreSQL, and what was tried is on record', async () => {
    const { user: other } = await accessOf('plugin-school-other');
    const { user: foreign, database } = await accessOf('plugin-rival-hello');
    await expect(query('SELECT 1', { database })).rejects.toThrow('permission denied for database');
    await expect(query('SELECT 1', { database: 'postgres' })).rejects.toThrow('permission denied for database');
    // However long it is.
    const remark = `/* ${'x'.repeat(140_000)} */`;
    await expect(query(`${remark} SELECT * FROM "plugin_other".notes`)).rejects.toThrow('permission denied for schema');
    await expect(query(`SET ROLE "${other}"`)).rejects.toThrow('permission denied to set role');
    await expect(query('SELECT 1', { user: other })).rejects.toThrow('password authentication failed');
    await expect(query('SELECT 1', { user: foreign, database })).rejects.toThrow('password authentication failed');
    const wanted = [
      ['school', 'hello', `${database}: permission denied for database`],
      ['school', 'hello', 'postgres: permission denied for database'],
      ['school', 'hello', 'permission denied for schema plugin_other'],
      ['school', 'hello', 'permission denied to set role'],
      // On this machine all come from one address: then it is told to those who were to be impersonated.
      ['school', 'other', `role ${other}`],
      ['rival', 'hello', `role ${foreign}`],
    ];
    const found = await world.tenants.eventually(async () => {
      const { items } = await world.client.resource(CrossTenantAttemptKind).list();
      const ofDatabase = items.filter(({ spec }) => spec.kind === 'database');
      return ofDatabase.length >= wanted.length ? ofDatabase : undefined;
    });
    for (const [tenant, plugin, target] of wanted) {
      expect(
        found.some(({ metadata, spec }) => metadata.namespace === tenant && spec.plugin === plugin && spec.target.includes(target)),
      ).toBe(true);
    }
  });

  it('are shown by tenantry audit, and counted', async () => {
    const said: string[] = [];
    const session = world.session((text) => said.push(text));
    expect(await audit(session, { tenant: 'school', plugin: 'hello', since: '1h' })).toBe(0);
    expect(said.join('')).toContain('get secrets plugin-rival-hello/plugin-token');
    expect(said.join('')).toContain('postgres:privilege');
    await expect(audit(session, { since: 'yesterday' })).rejects.toThrow('Cannot look back "yesterday"');
    const { body } = await world.target.request('GET', '/metrics');
    expect(String(body)).toMatch(/tenantry_cross_tenant_attempts_total\{tenant="school",plugin="hello",kind="api",rule="rbac"\} \d+/);
  });

  it('are gone with their tenant, and all that they led to', async () => {
    await world.client.resource(TenantKind).delete('school');
    await world.tenants.eventually(async () => (await world.tenants.find(() => world.tenants.get('school'))) === undefined);
    const { data } = await world.client.resource<KubeObject>(Secret, 'tenantry-system').get('plugin-postgres');
    const [password, port] = ['password', 'port'].map((key) => Buffer.from(data[key], 'base64').toString());
    const admin = new Client({ connectionString: embeddedDsn({ password, port: Number(port) }) });
    await admin.connect();
    const { rows } = await admin.query(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'tenant%' UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'plugin%' ORDER BY 1",
    );
    await admin.end();
    const roles = ['', '_migrator', '_owner', '_second'].map((suffix) => `plugin_hello_rival${suffix}`);
    expect(rows.map(({ name }) => String(name)).sort()).toEqual([...roles, 'tenant_rival'].sort());
    const secrets = (await world.client.resource<KubeObject>(Secret, 'tenantry-system').list()).items.map(({ metadata }) => metadata.name!);
    expect(secrets.filter((name) => name.startsWith('school'))).toEqual([]);
    expect(secrets).toContain('rival-hello');
    const namespaces = (await world.client.resource<KubeObject>(Namespace).list()).items.map(({ metadata }) => metadata.name!);
    expect(namespaces.filter((name) => name.includes('school'))).toEqual([]);
    expect((await world.get('rival', 'hello')).status?.phase).toBe('ACTIVE');
  });
});
