import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseNames } from '../../../src/areas/plugins/database/database-names.ts';
import { PluginDatabases } from '../../../src/areas/plugins/database/plugin-databases.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts';

const MIGRATIONS = [
  { name: '001_notes.sql', sql: 'CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)' },
  { name: '002_more.sql', sql: 'ALTER TABLE notes ADD COLUMN author text' },
];

/** What `psql` does with a file: statements, and lines for COPY. */
async function restore(dsn: string, text: string): Promise<void> {
  const client = new Client({ connectionString: dsn });
  await client.connect();
  const parts = text.split(/^(COPY .* FROM stdin;\n(?:.*\n)*?\\\.\n)/m);
  for (const part of parts) {
    const copy = /^(COPY .*) FROM stdin;\n([\s\S]*)\\\.\n$/.exec(part);
    if (copy) await copyIn(client, `${copy[1]} FROM STDIN`, copy[2]);
    else if (part.trim() !== '') await client.query(part);
  }
  await client.end();
}

function copyIn(client: Client, sql: string, lines: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const nothing = () => {};
    client.query({
      submit: (connection: { query(text: string): void }) => connection.query(sql),
      handleCopyInResponse: (connection: { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }) => {
        connection.sendCopyFromChunk(Buffer.from(lines));
        connection.endCopyFrom();
      },
      handleCommandComplete: nothing,
      handleReadyForQuery: () => resolve(),
      handleError: (error: Error) => reject(error),
    } as never);
  });
}

const userOf = (tenant: string, plugin: string) => databaseNames(tenant, plugin).runtime;

describe('the databases of plugins, on PostgreSQL', { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let databases: PluginDatabases;
  beforeAll(async () => {
    server = await startPostgres();
    databases = new PluginDatabases({ dsn: server.dsn });
    for (const [tenant, plugin] of [
      ['school', 'hello'],
      ['school', 'other'],
      ['rival', 'hello'],
    ]) {
      await databases.provision(tenant, plugin, { user: userOf(tenant, plugin), password: `${tenant}'s\\ ${plugin}`, connectionLimit: 2 });
      await databases.migrate(tenant, plugin, MIGRATIONS);
    }
  }, 60_000);
  afterAll(() => server?.stop(), 60_000);

  async function as<T>(tenant: string, plugin: string, work: (client: Client) => Promise<T>, database?: string): Promise<T> {
    const { host, port, database: own } = databases.access(tenant, plugin);
    const user = userOf(tenant, plugin);
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
    ['statements in the log, to make its lines too long', "SET log_min_error_statement = 'error'", /permission denied to set parameter/],
    ['more temporary files', "SET temp_file_limit = '50GB'", /permission denied to set parameter/],
    ['the notes of what was applied', 'DELETE FROM _tenantry_migrations', /permission denied/],
    ['files of the server', "SELECT pg_read_file('/etc/hosts')", /permission denied/],
    ['the list of all roles', 'SELECT rolname FROM pg_roles', /permission denied/],
    ['the list of all tenants', 'SELECT datname FROM pg_database', /permission denied/],
    ['who is there now', 'SELECT usename FROM pg_stat_activity', /permission denied/],
    ['the source of functions', 'SELECT prosrc FROM pg_proc', /permission denied/],
    ['definitions of functions', "SELECT pg_get_functiondef('now()'::regprocedure)", /permission denied/],
    ['sizes of tables', "SELECT pg_total_relation_size('notes')", /permission denied/],
    ['blocks of code', "DO $$ BEGIN RAISE NOTICE 'x'; END $$", /permission denied for language/],
  ])('refuse a plugin %s', async (_, sql, message) => {
    await expect(hello(sql)).rejects.toThrow(message);
  });

  it('keep statements, which may be of any length, out of what is logged about refusals', async () => {
    expect((await hello('SHOW log_min_error_statement')).rows).toEqual([{ log_min_error_statement: 'panic' }]);
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
    expect(await databases.migrate('school', 'hello', MIGRATIONS)).toHaveLength(2);
    await expect(databases.migrate('school', 'hello', [{ ...MIGRATIONS[0], sql: 'SELECT 1' }])).rejects.toThrow(
      'another file of this name was applied',
    );
  });

  it('go on after a migration that failed, with nothing of it left', async () => {
    const broken = { name: '003_broken.sql', sql: 'CREATE TABLE half (id int); SELECT 1/0' };
    await expect(databases.migrate('school', 'hello', [...MIGRATIONS, broken])).rejects.toThrow(
      'Cannot apply migration "003_broken.sql": division by zero',
    );
    expect(await databases.migrate('school', 'hello', [...MIGRATIONS, { ...broken, sql: 'CREATE TABLE half (id int)' }])).toHaveLength(3);
    expect((await hello('SELECT * FROM half')).rows).toEqual([]);
  });

  it('keep a migration from being anybody but the owner of its schema', async () => {
    const escape = { name: '004_escape.sql', sql: "SELECT set_config('role', 'none', true); CREATE ROLE evil" };
    await expect(databases.migrate('school', 'hello', [escape])).rejects.toThrow(/permission denied to create role/);
    const reach = { name: '004_reach.sql', sql: 'SELECT * FROM "plugin_other".notes' };
    await expect(databases.migrate('school', 'hello', [reach])).rejects.toThrow(/permission denied for schema/);
  });

  it('are changed by no second provision, and take a new password', async () => {
    await databases.provision('rival', 'hello', { user: userOf('rival', 'hello'), password: 'new', connectionLimit: 2 });
    await expect(as('rival', 'hello', (client) => client.query('SELECT 1'))).rejects.toThrow(/password authentication failed/);
  });

  it('have a function that a migration made called, and functions found by their names', async () => {
    const sql = "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN n * 2; END'";
    await databases.migrate('school', 'other', [...MIGRATIONS, { name: '003_twice.sql', sql }]);
    const { rows } = await as('school', 'other', (client) =>
      client.query("SELECT twice(4), (SELECT count(*)::int FROM pg_proc WHERE proname = 'twice')"),
    );
    expect(rows).toEqual([{ twice: 8, count: 1 }]);
  });

  it('take the login before the current one for as long as it was told', async () => {
    const names = databaseNames('school', 'other');
    const login = (user: string, password: string) => {
      const { host, port, database } = databases.access('school', 'other');
      const client = new Client({ host, port, user, database, password });
      return client.connect().then(async () => {
        const { rows } = await client.query('INSERT INTO notes (text) VALUES ($1) RETURNING text', [user]);
        await client.end();
        return String(rows[0].text);
      });
    };
    const rotated = { user: names.second, password: 'second', connectionLimit: 2 };
    await databases.setPassword(names.second, 'second');
    await databases.provision('school', 'other', { ...rotated, otherUntil: new Date(Date.now() + 3600_000).toISOString() });
    expect(await login(names.second, 'second')).toBe(names.second);
    expect(await login(names.runtime, "school's\\ other")).toBe(names.runtime);
    await databases.provision('school', 'other', { ...rotated, otherUntil: new Date(Date.now() - 1000).toISOString() });
    await expect(login(names.runtime, "school's\\ other")).rejects.toThrow(/password authentication failed/);
    await databases.provision('school', 'other', { user: names.runtime, password: "school's\\ other", connectionLimit: 2 });
    await expect(login(names.second, 'second')).rejects.toThrow(/not permitted to log in|password authentication failed/);
  });

  it('remember what they were told, until they are gone', async () => {
    const applied = await databases.migrate('rival', 'hello', MIGRATIONS);
    await databases.settle('rival', 'hello', { state: 'a state', applied });
    const another = new PluginDatabases({ dsn: server.dsn });
    expect(await another.isSettled('rival', 'hello', 'a state', MIGRATIONS)).toBe(true);
    expect(await another.isSettled('rival', 'hello', 'a state', MIGRATIONS.slice(0, 1))).toBe(true);
    expect(await another.isSettled('rival', 'hello', 'a state', [...MIGRATIONS, { name: '003.sql', sql: '' }])).toBe(false);
    expect(await another.isSettled('rival', 'hello', 'another state', MIGRATIONS)).toBe(false);
    expect(await another.isSettled('school', 'hello', 'a state', MIGRATIONS)).toBe(false);
  });

  it('have no way back past a migration that took something away', async () => {
    const drop = { name: '003_drop.sql', sql: 'ALTER TABLE notes DROP COLUMN author', isContract: true };
    expect(await databases.migrate('rival', 'hello', [...MIGRATIONS, drop])).toHaveLength(3);
    await expect(databases.migrate('rival', 'hello', MIGRATIONS)).rejects.toThrow('003_drop.sql took away what it needs');
    expect(await databases.migrate('rival', 'hello', [...MIGRATIONS, drop])).toHaveLength(3);
  });

  it('give up a migration that waits for a lock, and leave nothing of it', async () => {
    const lock = new Client({ connectionString: server.dsn.replace(/postgres$/, 'tenant_rival') });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE "plugin_hello".notes IN ACCESS EXCLUSIVE MODE');
    const drop = { name: '003_drop.sql', sql: 'ALTER TABLE notes DROP COLUMN author', isContract: true };
    const add = { name: '004_add.sql', sql: 'CREATE TABLE more (id int); ALTER TABLE notes ADD COLUMN more int' };
    await expect(databases.migrate('rival', 'hello', [...MIGRATIONS, drop, add])).rejects.toMatchObject({ code: '55P03' });
    await lock.query('ROLLBACK');
    await lock.end();
    expect(await databases.migrate('rival', 'hello', [...MIGRATIONS, drop, add])).toHaveLength(4);
  });

  it('are exported as SQL that another server makes the same of', async () => {
    const sql = [
      "CREATE TYPE mood AS ENUM ('sad', 'it''s fine')",
      'CREATE SEQUENCE numbers START 7',
      "CREATE TABLE people (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, mood mood, n int DEFAULT nextval('numbers'), loud text GENERATED ALWAYS AS (upper(name)) STORED)",
      'CREATE TABLE "Odd name" (person int REFERENCES people (id), "a \t b" jsonb DEFAULT \'{}\', CHECK (person > 0))',
      'CREATE INDEX by_name ON people (lower(name)) WHERE mood IS NOT NULL',
      'CREATE VIEW moods AS SELECT mood, count(*) AS count FROM people GROUP BY mood',
      "CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.name := trim(NEW.name); RETURN NEW; END'",
      'CREATE TRIGGER touch BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION touch()',
      "INSERT INTO people (name, mood) VALUES (' tab\there\n', 'sad'), ('\\.', NULL)",
      'INSERT INTO "Odd name" VALUES (1, \'{"a": "\\u00e9"}\')',
    ].join(';\n');
    await databases.migrate('school', 'hello', [{ name: '009_all.sql', sql }]);
    const dump = async (from: PluginDatabases) => {
      let text = '';
      await from.export('school', 'hello', (piece) => void (text += piece));
      return text;
    };
    const text = await dump(databases);
    const copy = await startPostgres();
    try {
      const admin = new Client({ connectionString: copy.dsn });
      await admin.connect();
      await admin.query('CREATE DATABASE tenant_school');
      await admin.end();
      await restore(copy.dsn.replace(/postgres$/, 'tenant_school'), text);
      expect(await dump(new PluginDatabases({ dsn: copy.dsn }))).toBe(text);
    } finally {
      await copy.stop();
    }
    expect(text).toContain('tab\\there');
  });

  it('are gone with their plugin, the database with the last one', async () => {
    await databases.remove('school', 'hello');
    expect((await as('school', 'other', (client) => client.query('SELECT * FROM notes'))).rows).toHaveLength(2);
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

  it('are gone with their tenant, whatever else is in there', async () => {
    const admin = new Client({ connectionString: server.dsn.replace(/postgres$/, 'tenant_rival') });
    admin.on('error', () => {});
    await admin.connect();
    await admin.query('CREATE SCHEMA plugin_forgotten');
    await databases.removeTenant('rival', ['hello', 'never']);
    await databases.removeTenant('rival', ['hello', 'never']);
    const look = new Client({ connectionString: server.dsn });
    await look.connect();
    const { rows } = await look.query(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'tenant%' UNION SELECT rolname FROM pg_roles WHERE rolname LIKE 'plugin%'",
    );
    await look.end();
    expect(rows).toEqual([]);
  });
});
