import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { Client } from 'pg';
import { databaseNames, literal, quoted, type DatabaseNames } from './database-names.ts';
import { exportSchema } from './export/export-schema.ts';
import { migrate } from './migrate.ts';
import { dropRoles, dropSchema, provisionDatabase, provisionServer, rolesOf, type Provision } from './provision.ts';
import { covers, readSettled, type Applied, type Migration, type Settled } from './settled.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** How a plugin reaches its database. */
export interface DatabaseAccess {
  host: string;
  port: number;
  database: string;
  schema: string;
}

/** Who the plugin is to the server. */
export type Login = Pick<Provision, 'user' | 'password' | 'otherUntil' | 'connectionLimit'>;

/** The PostgreSQL server that the plugins of all tenants share: a database per tenant, a schema per plugin. */
export class PluginDatabases {
  readonly #server: URL;
  readonly #host: string;
  /** What is made right already, by role: asked of the server once for all plugins. */
  #settled: Promise<Map<string, Settled>> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** `dsn`: an administrator of a server that is the plugins' own; `host`: what Pods call it, when that is something else. */
  constructor({ dsn, host }: { dsn: string; host?: string }) {
    this.#server = new URL(dsn);
    this.#host = host ?? this.#server.hostname.replace(/^\[|\]$/g, '');
  }

  access(tenant: string, plugin: string): DatabaseAccess {
    const { database, schema } = databaseNames(tenant, plugin);
    return { host: this.#host, port: Number(this.#server.port || 5432), database, schema };
  }

  /** Where it answers, as network policies name it. */
  async addresses(): Promise<{ cidr: string; port: number }[]> {
    const { host, port } = this.access('', '');
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => ({ cidr: `${address}/${family === 6 ? 128 : 32}`, port }));
  }

  /** Whether `settle` was told this state last, by whichever process, and nothing is to be applied. */
  async isSettled(tenant: string, plugin: string, state: string, migrations: readonly Migration[]): Promise<boolean> {
    this.#settled ??= this.#readSettled().catch((error: unknown) => {
      this.#settled = undefined;
      throw error;
    });
    return covers((await this.#settled).get(databaseNames(tenant, plugin).runtime), state, migrations);
  }

  /** Remembers in the server itself that everything is as this state says. */
  async settle(tenant: string, plugin: string, settled: Settled): Promise<void> {
    const { runtime } = databaseNames(tenant, plugin);
    const text = literal(JSON.stringify(settled));
    await this.#connected(this.#server, (admin) => admin.query(`COMMENT ON ROLE ${quoted(runtime)} IS ${text}`));
    (await this.#settled)?.set(runtime, settled);
  }

  /** One that is gone with its database is not settled. */
  async #readSettled(): Promise<Map<string, Settled>> {
    const { rows } = await this.#connected(this.#server, (admin) =>
      admin.query(
        `SELECT r.rolname AS role, shobj_description(r.oid, 'pg_authid') AS state FROM pg_roles r
         WHERE r.rolname LIKE 'plugin\\_%' AND EXISTS (
           SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE s.setrole = r.oid)`,
      ),
    );
    return new Map(rows.flatMap(({ role, state }) => readSettled(state).map((settled) => [String(role), settled])));
  }

  async provision(tenant: string, plugin: string, login: Login): Promise<void> {
    const provision: Provision = { ...databaseNames(tenant, plugin), ...login };
    // Rows of the server's own catalogues cannot be changed by two at once.
    await this.#inTurn(async () => {
      await this.#connected(this.#server, (admin) => provisionServer(admin, provision));
      await this.#connected(this.#in(provision.database), (admin) => provisionDatabase(admin, provision));
    });
  }

  /** The role has this password, whatever else is to be done yet. */
  async setPassword(user: string, password: string): Promise<void> {
    const login = `LOGIN PASSWORD ${literal(password)} VALID UNTIL 'infinity'`;
    await this.#connected(this.#server, (admin) => admin.query(`ALTER ROLE ${quoted(user)} ${login}`));
  }

  /** As the migrator, who has a password for as long as it takes and never another time the same. @returns all that are applied */
  async migrate(tenant: string, plugin: string, migrations: readonly Migration[]): Promise<Applied[]> {
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

  /** The plugin's schema as SQL, structure and rows, of one moment. @throws Error when there is none */
  async export(tenant: string, plugin: string, write: (text: string) => Promise<void> | void): Promise<void> {
    const names = databaseNames(tenant, plugin);
    if (!(await this.#exists(names))) throw new Error(`Cannot export "${plugin}": tenant "${tenant}" has no database`);
    await this.#connected(this.#in(names.database), (admin) => exportSchema(admin, names.schema, write));
  }

  /** The plugin's schema and roles are gone, and the tenant's database with the last of its plugins. */
  async remove(tenant: string, plugin: string): Promise<void> {
    const names = databaseNames(tenant, plugin);
    await this.#inTurn(async () => {
      if (await this.#exists(names)) await this.#removeSchema(names);
      await this.#connected(this.#server, async (admin) => {
        for (const role of rolesOf(names)) await dropOwned(admin, role);
        await dropRoles(admin, names);
      });
    });
    (await this.#settled)?.delete(names.runtime);
  }

  /** Nothing of the tenant is left, of these plugins or of others. */
  async removeTenant(tenant: string, plugins: readonly string[]): Promise<void> {
    for (const plugin of plugins) await this.remove(tenant, plugin);
    const { database } = databaseNames(tenant, '');
    await this.#connected(this.#server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${quoted(database)} WITH (FORCE)`));
  }

  async #removeSchema(names: DatabaseNames): Promise<void> {
    const isLast = await this.#connected(this.#in(names.database), async (admin) => {
      await dropSchema(admin, names);
      for (const role of rolesOf(names)) await dropOwned(admin, role);
      const { rows } = await admin.query("SELECT FROM pg_namespace WHERE nspname LIKE 'plugin\\_%'");
      return rows.length === 0;
    });
    if (!isLast) return;
    await this.#connected(this.#server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${quoted(names.database)} WITH (FORCE)`));
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

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
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
