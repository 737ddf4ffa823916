import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PluginDatabases } from '../../../src/areas/plugins/database/plugin-databases.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';

const MIGRATIONS = [
  { name: '001_notes.sql', sql: 'CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)' },
  { name: '002_more.sql', sql: 'ALTER TABLE notes ADD COLUMN author text' },
];

describe('the databases of plugins, on PostgreSQL', { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let databases: PluginDatabases;
  beforeAll(async () => {
    server = await startPostgres();
    databases = new PluginDatabases(server.dsn);
    for (const [tenant, plugin] of [
      ['school', 'hello'],
      ['school', 'other'],
      ['rival', 'hello'],
    ]) {
      await databases.provision(tenant, plugin, { password: `${tenant}'s\\ ${plugin}`, connectionLimit: 2 });
      await databases.migrate(tenant, plugin, MIGRATIONS);
    }
  }, 60_000);
  afterAll(() => server?.stop(), 60_000);

  async function as<T>(tenant: string, plugin: string, work: (client: Client) => Promise<T>, database?: string): Promise<T> {
    const { host, port, user, database: own } = databases.access(tenant, plugin);
    const client = new Client({ host, port, user, database: database ?? own, password: `${tenant}'s\\ ${plugin}` });
    client.on('error', () => {});
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
  const hello = (sql: string, database?: string) => as('school', 'hello', (client) => client.query(sql), database);

  it('let a plugin read and write its own rows', async () => {
    await hello("INSERT INTO notes (text, author) VALUES ('hi', 'me')");
    expect((await hello('SELECT text FROM notes')).rows).toEqual([{ text: 'hi' }]);
    expect((await as('rival', 'hello', (client) => client.query('SELECT text FROM notes'))).rows).toEqual([]);
  });

  it.each([
    ['another plugin’s rows', 'SELECT * FROM "plugin_other".notes', /permission denied for schema/],
    ['tables of its own making', 'CREATE TABLE mine (id int)', /permission denied/],
    ['a changed table', 'ALTER TABLE notes ADD COLUMN x int', /must be owner/],
    ['tables in public', 'CREATE TABLE public.mine (id int)', /permission denied/],
    ['temporary tables', 'CREATE TEMP TABLE mine (id int)', /permission denied/],
    ['advisory locks', 'SELECT pg_advisory_lock(1)', /permission denied/],
    ['advisory locks, tried', 'SELECT pg_try_advisory_lock(1)', /permission denied/],
    ['large objects', 'SELECT lo_create(0)', /permission denied/],
    ['the owner', 'SET ROLE "plugin_hello_school_owner"', /permission denied to set role/],
    ['more connections', 'ALTER ROLE "plugin_hello_school" CONNECTION LIMIT 50', /permission denied/],
    ['more temporary files', "SET temp_file_limit = '50GB'", /permission denied to set parameter/],
    ['the notes of what was applied', 'DELETE FROM _tenantry_migrations', /permission denied/],
    ['files of the server', "SELECT pg_read_file('/etc/hosts')", /permission denied/],
  ])('refuse a plugin %s', async (_, sql, message) => {
    await expect(hello(sql)).rejects.toThrow(message);
  });

  it('let a plugin give nothing away', async () => {
    await hello('GRANT SELECT ON notes TO "plugin_other_school"');
    const reading = as('school', 'other', (client) => client.query('SELECT * FROM "plugin_hello".notes'));
    await expect(reading).rejects.toThrow(/permission denied for schema/);
  });

  it.each(['tenant_rival', 'postgres', 'template1'])('refuse a plugin the database %s', async (database) => {
    await expect(hello('SELECT 1', database)).rejects.toThrow(/permission denied for database/);
  });

  it('refuse a connection too many', async () => {
    await as('school', 'hello', () => as('school', 'hello', async () => expect(hello('SELECT 1')).rejects.toThrow(/too many connections/)));
  });

  it('apply a migration once, and refuse one that was changed', async () => {
    expect(await databases.migrate('school', 'hello', MIGRATIONS)).toBe(2);
    await expect(databases.migrate('school', 'hello', [{ ...MIGRATIONS[0], sql: 'SELECT 1' }])).rejects.toThrow(
      'another file of this name was applied',
    );
  });

  it('go on after a migration that failed, with nothing of it left', async () => {
    const broken = { name: '003_broken.sql', sql: 'CREATE TABLE half (id int); SELECT 1/0' };
    await expect(databases.migrate('school', 'hello', [...MIGRATIONS, broken])).rejects.toThrow(
      'Cannot apply migration "003_broken.sql": division by zero',
    );
    expect(await databases.migrate('school', 'hello', [...MIGRATIONS, { ...broken, sql: 'CREATE TABLE half (id int)' }])).toBe(3);
    expect((await hello('SELECT * FROM half')).rows).toEqual([]);
  });

  it('keep a migration from being anybody but the owner of its schema', async () => {
    const escape = { name: '004_escape.sql', sql: "SELECT set_config('role', 'none', true); CREATE ROLE evil" };
    await expect(databases.migrate('school', 'hello', [escape])).rejects.toThrow(/permission denied to create role/);
    const reach = { name: '004_reach.sql', sql: 'SELECT * FROM "plugin_other".notes' };
    await expect(databases.migrate('school', 'hello', [reach])).rejects.toThrow(/permission denied for schema/);
  });

  it('are changed by no second provision, and take a new password', async () => {
    await databases.provision('rival', 'hello', { password: 'new', connectionLimit: 2 });
    await expect(as('rival', 'hello', (client) => client.query('SELECT 1'))).rejects.toThrow(/password authentication failed/);
  });

  it('are gone with their plugin, the database with the last one', async () => {
    await databases.remove('school', 'hello');
    expect((await as('school', 'other', (client) => client.query('SELECT * FROM notes'))).rows).toEqual([]);
    await databases.remove('school', 'other');
    await databases.remove('school', 'other');
    const admin = new Client({ connectionString: server.dsn });
    await admin.connect();
    const { rows } = await admin.query(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'tenant%' UNION SELECT rolname FROM pg_roles WHERE rolname LIKE 'plugin%school%'",
    );
    await admin.end();
    expect(rows).toEqual([{ name: 'tenant_rival' }]);
  });
});
