import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPlugin } from '../../../src/areas/plugins/database/export/export-plugin.ts';
import { Namespace, Secret } from '../../../src/client/kinds.ts';
import { exportInstallation } from '../../../src/cli/plugin/export.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';
import { PluginWorld } from './plugin-world.ts';

describe('an export', { timeout: 60_000 }, () => {
  let world: PluginWorld;
  let postgres: PostgresServer;
  let stopKubelet: () => Promise<void>;
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-export-'));
  beforeAll(async () => {
    [world, postgres] = await Promise.all([PluginWorld.start(), startPostgres()]);
    await world.publisher('acme', 'acme');
    await world.tenants.tenant('school');
    await world.tenants.node('worker');
    stopKubelet = world.tenants.playKubelet(['plugin-school-notes']);
    await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
    const stringData = { 'postgres-dsn': postgres.dsn };
    await world.client.resource(Secret, 'tenantry-system').create({ metadata: { name: 'plugin-platform' }, stringData });
  }, 60_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await stopKubelet?.();
    await world?.stop();
    await postgres?.stop();
  }, 60_000);

  it('holds the rows of the plugin, as the platform’s own login reads them', async () => {
    const files = { 'db/001_notes.sql': 'CREATE TABLE notes (id bigserial PRIMARY KEY, text text)' };
    await world.version('acme', 'notes', '1.0.0', { database: { migrations: { path: 'db' } }, files });
    await world.install('school', 'notes');
    await world.phase('school', 'notes', 'ACTIVE');
    const access = await world.client.resource<KubeObject>(Secret, 'plugin-school-notes').get('plugin-database');
    const plugin = new Client({ connectionString: Buffer.from(access.data.uri, 'base64').toString() });
    await plugin.connect();
    await plugin.query("INSERT INTO notes (text) VALUES ('a\\tb')");
    await plugin.end();

    const to = join(folder, 'notes');
    const session = world.session(() => {});
    expect(await exportInstallation(session, exportPlugin, 'notes', { tenant: 'school', to })).toBe(0);
    const dump = readFileSync(join(to, 'database.sql'), 'utf8');
    expect(dump).toMatch(/CREATE TABLE .*notes/);
    expect(dump).toContain('COPY "notes" (id, text) FROM stdin;\n1\ta\\\\tb\n\\.\n');
    expect(readFileSync(join(to, 'versions/1.0.0/db/001_notes.sql'), 'utf8')).toBe(files['db/001_notes.sql']);
    expect(dump).not.toContain(Buffer.from(access.data.password, 'base64').toString());
  });
});
