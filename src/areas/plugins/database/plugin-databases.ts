import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { Client } from 'pg';
import { databaseNames, literal, quoted, type DatabaseNames } from './database-names.ts';
import { migrate, type Migration } from './migrate.ts';
import { dropRoles, dropSchema, provisionDatabase, provisionServer, type Provision } from './provision.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** How a plugin reaches its database. */
export interface DatabaseAccess {
  host: string;
  port: number;
  database: string;
  user: string;
  schema: string;
}

/** The PostgreSQL server that the plugins of all tenants share: a database per tenant, a schema per plugin. */
export class PluginDatabases {
  readonly #server: URL;

  /** `dsn`: an administrator of a server that is the plugins' own. */
  constructor(dsn: string) {
    this.#server = new URL(dsn);
  }

  access(tenant: string, plugin: string): DatabaseAccess {
    const { database, runtime, schema } = databaseNames(tenant, plugin);
    return {
      host: this.#server.hostname.replace(/^\[|\]$/g, ''),
      port: Number(this.#server.port || 5432),
      database,
      user: runtime,
      schema,
    };
  }

  /** Where it answers, as network policies name it. */
  async addresses(): Promise<{ cidr: string; port: number }[]> {
    const { host, port } = this.access('', '');
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => ({ cidr: `${address}/${family === 6 ? 128 : 32}`, port }));
  }

  async provision(tenant: string, plugin: string, options: { password: string; connectionLimit: number }): Promise<void> {
    const provision: Provision = { ...databaseNames(tenant, plugin), ...options };
    await this.#connected(this.#server, (admin) => provisionServer(admin, provision));
    await this.#connected(this.#in(provision.database), (admin) => provisionDatabase(admin, provision));
  }

  /** As the migrator, who has a password for as long as it takes and never another time the same. @returns how many are applied in all */
  async migrate(tenant: string, plugin: string, migrations: readonly Migration[]): Promise<number> {
    const names = databaseNames(tenant, plugin);
    const password = randomBytes(24).toString('base64url');
    return this.#connected(this.#server, async (admin) => {
      await admin.query(`ALTER ROLE ${quoted(names.migrator)} LOGIN PASSWORD ${literal(password)}`);
      try {
        const target = this.#in(names.database);
        target.username = encodeURIComponent(names.migrator);
        target.password = password;
        return await this.#connected(target, (migrator) => migrate(migrator, names, migrations));
      } finally {
        await admin.query(`ALTER ROLE ${quoted(names.migrator)} NOLOGIN PASSWORD NULL`);
      }
    });
  }

  /** The plugin's schema and roles are gone, and the tenant's database with the last of its plugins. */
  async remove(tenant: string, plugin: string): Promise<void> {
    const names = databaseNames(tenant, plugin);
    if (await this.#exists(names)) {
      const isLast = await this.#connected(this.#in(names.database), async (admin) => {
        await dropSchema(admin, names);
        for (const role of [names.owner, names.migrator, names.runtime]) await dropOwned(admin, role);
        const { rows } = await admin.query("SELECT FROM pg_namespace WHERE nspname LIKE 'plugin\\_%'");
        return rows.length === 0;
      });
      if (isLast)
        await this.#connected(this.#server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${quoted(names.database)} WITH (FORCE)`));
    }
    await this.#connected(this.#server, async (admin) => {
      for (const role of [names.owner, names.migrator, names.runtime]) await dropOwned(admin, role);
      await dropRoles(admin, names);
    });
  }

  async #exists({ database }: DatabaseNames): Promise<boolean> {
    const found = await this.#connected(this.#server, (admin) => admin.query('SELECT FROM pg_database WHERE datname = $1', [database]));
    return found.rows.length > 0;
  }

  #in(database: string): URL {
    const url = new URL(this.#server);
    url.pathname = `/${encodeURIComponent(database)}`;
    return url;
  }

  async #connected<T>(url: URL, work: (connection: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: url.href, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, application_name: 'tenantry' });
    // A connection that breaks while nothing is asked is told by the next question.
    client.on('error', () => {});
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** Its rights in this database, which keep a role from going. */
async function dropOwned(admin: Client, role: string): Promise<void> {
  const { rows } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  if (rows.length > 0) await admin.query(`DROP OWNED BY ${quoted(role)} CASCADE`);
}
