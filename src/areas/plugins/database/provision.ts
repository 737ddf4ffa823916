import { literal, otherLogin, quoted, type DatabaseNames } from './database-names.ts';
import { closeCatalogues, ifPermitted } from './close-catalogues.ts';

/** Statements on one connection. */
export interface Connection {
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface Provision extends DatabaseNames {
  /** Which of its two roles the plugin logs in as. */
  user: string;
  password: string;
  /** Until when the other one may log in, for those that know its password from before. */
  otherUntil?: string;
  connectionLimit: number;
}

/** Roles and the database; on the maintenance database, as the administrator. What is there stays and is made right again. */
export async function provisionServer(admin: Connection, provision: Provision): Promise<void> {
  const { database, owner, migrator, runtime, second, user, password, otherUntil, connectionLimit } = provision;
  await ensureRole(admin, owner, 'NOLOGIN');
  await ensureRole(admin, migrator, 'NOLOGIN');
  const limit = `CONNECTION LIMIT ${connectionLimit}`;
  const other = otherLogin(provision, user);
  await ensureRole(admin, user, `LOGIN PASSWORD ${literal(password)} VALID UNTIL 'infinity' ${limit}`);
  // Without a time it was never used, or its time is over.
  const validity = otherUntil === undefined ? 'NOLOGIN PASSWORD NULL' : `LOGIN VALID UNTIL ${literal(otherUntil)}`;
  await ensureRole(admin, other, `${validity} ${limit}`);
  await admin.query(`GRANT ${quoted(owner)} TO ${quoted(migrator)}; GRANT ${quoted(runtime)} TO ${quoted(second)}`);
  const { rows } = await admin.query('SELECT current_database() AS here, EXISTS (SELECT FROM pg_database WHERE datname = $1) AS found', [
    database,
  ]);
  if (!rows[0]['found']) await admin.query(`CREATE DATABASE ${quoted(database)}`);
  for (const name of [database, String(rows[0]['here']), 'template1']) await closeDatabase(admin, name);
  for (const role of [migrator, runtime, second]) {
    await admin.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(role)}`);
  }
}

async function closeDatabase(admin: Connection, name: string): Promise<void> {
  const { rows } = await admin.query("SELECT has_database_privilege('public', $1, 'CONNECT, TEMPORARY') AS open", [name]);
  if (rows[0]['open']) await admin.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${quoted(name)} FROM PUBLIC`);
}

/** The schema and what the roles may do in it; on the tenant's database, as the administrator. */
export async function provisionDatabase(admin: Connection, provision: DatabaseNames): Promise<void> {
  const { database, schema, owner, migrator, runtime, second } = provision;
  const [inSchema, to, by] = [quoted(schema), quoted(runtime), quoted(owner)];
  await closeCatalogues(admin);
  await admin.query(`CREATE SCHEMA IF NOT EXISTS ${inSchema} AUTHORIZATION ${by}`);
  const defaults = `ALTER DEFAULT PRIVILEGES FOR ROLE ${by} IN SCHEMA ${inSchema}`;
  await admin.query(
    [
      `GRANT USAGE ON SCHEMA ${inSchema} TO ${to}`,
      `GRANT USAGE ON LANGUAGE plpgsql TO ${by}`,
      `${defaults} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`,
      `${defaults} GRANT USAGE, SELECT ON SEQUENCES TO ${to}`,
    ].join(';\n'),
  );
  const ofLogins: [string, string][] = [
    ['search_path', quoted(schema)],
    ['statement_timeout', literal('30s')],
    ['idle_in_transaction_session_timeout', literal('60s')],
  ];
  const settings: [string, string, string][] = [
    [migrator, 'role', literal(owner)],
    [migrator, 'search_path', quoted(schema)],
    ...[runtime, second].flatMap((role) => ofLogins.map(([name, value]): [string, string, string] => [role, name, value])),
  ];
  const change = ([role, name, value]: [string, string, string]) =>
    `ALTER ROLE ${quoted(role)} IN DATABASE ${quoted(database)} SET ${name} = ${value}`;
  await admin.query(settings.map(change).join(';\n'));
  const ofSuperusers: [string, string][] = [
    ['temp_file_limit', literal('1GB')],
    // Without the statement, which may be of any length: a line of the log that is too long would not be read by the audit.
    ['log_min_error_statement', literal('panic')],
  ];
  await ifPermitted(() =>
    admin.query([runtime, second].flatMap((role) => ofSuperusers.map(([name, value]) => change([role, name, value]))).join(';\n')),
  );
}

async function ensureRole(admin: Connection, name: string, options: string): Promise<void> {
  const { rows } = await admin.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  const plain = 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
  await admin.query(`${rows.length > 0 ? 'ALTER' : 'CREATE'} ROLE ${quoted(name)} ${plain} ${options}`);
}

/** Everything of a plugin is gone; on the tenant's database. */
export async function dropSchema(admin: Connection, { schema }: DatabaseNames): Promise<void> {
  await admin.query(`DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`);
}

export function rolesOf({ owner, migrator, runtime, second }: DatabaseNames): string[] {
  return [second, runtime, migrator, owner];
}

/** On the maintenance database. */
export async function dropRoles(admin: Connection, names: DatabaseNames): Promise<void> {
  for (const role of rolesOf(names)) await admin.query(`DROP ROLE IF EXISTS ${quoted(role)}`);
}
