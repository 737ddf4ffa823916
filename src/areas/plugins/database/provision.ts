import { literal, quoted, type DatabaseNames } from './database-names.ts';

/** Statements on one connection. */
export interface Connection {
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface Provision extends DatabaseNames {
  password: string;
  connectionLimit: number;
}

/** Roles and the database; on the maintenance database, as the administrator. What is there stays and is made right again. */
export async function provisionServer(
  admin: Connection,
  { database, owner, migrator, runtime, password, connectionLimit }: Provision,
): Promise<void> {
  await ensureRole(admin, owner, 'NOLOGIN');
  await ensureRole(admin, migrator, 'NOLOGIN');
  await ensureRole(admin, runtime, `LOGIN PASSWORD ${literal(password)} CONNECTION LIMIT ${connectionLimit}`);
  await admin.query(`GRANT ${quoted(owner)} TO ${quoted(migrator)}`);
  const { rows } = await admin.query('SELECT current_database() AS here, EXISTS (SELECT FROM pg_database WHERE datname = $1) AS found', [
    database,
  ]);
  if (!rows[0]['found']) await admin.query(`CREATE DATABASE ${quoted(database)}`);
  for (const name of [database, String(rows[0]['here']), 'template1']) {
    await admin.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${quoted(name)} FROM PUBLIC`);
  }
  for (const role of [migrator, runtime]) await admin.query(`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(role)}`);
}

/** The schema and what the roles may do in it; on the tenant's database, as the administrator. */
export async function provisionDatabase(admin: Connection, { database, schema, owner, migrator, runtime }: Provision): Promise<void> {
  const [inSchema, to, by] = [quoted(schema), quoted(runtime), quoted(owner)];
  await admin.query('REVOKE ALL ON SCHEMA public FROM PUBLIC');
  await closeSharedState(admin);
  await admin.query(`CREATE SCHEMA IF NOT EXISTS ${inSchema} AUTHORIZATION ${by}`);
  await admin.query(`GRANT USAGE ON SCHEMA ${inSchema} TO ${to}`);
  const defaults = `ALTER DEFAULT PRIVILEGES FOR ROLE ${by} IN SCHEMA ${inSchema}`;
  await admin.query(`${defaults} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`);
  await admin.query(`${defaults} GRANT USAGE, SELECT ON SEQUENCES TO ${to}`);
  const settings: [string, string, string][] = [
    [migrator, 'role', owner],
    [migrator, 'search_path', schema],
    [runtime, 'search_path', schema],
    [runtime, 'statement_timeout', '30s'],
    [runtime, 'idle_in_transaction_session_timeout', '60s'],
    [runtime, 'temp_file_limit', '1GB'],
  ];
  for (const [role, name, value] of settings) {
    await admin.query(
      `ALTER ROLE ${quoted(role)} IN DATABASE ${quoted(database)} SET ${name} = ${name === 'search_path' ? quoted(value) : literal(value)}`,
    );
  }
}

/** Advisory locks and large objects are of the whole database: plugins of one tenant would meet in them. */
async function closeSharedState(admin: Connection): Promise<void> {
  const { rows } = await admin.query(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'pg_catalog'::regnamespace
       AND p.proname ~ '^(pg_(try_)?advisory_|lo_|loread$|lowrite$)'
       AND has_function_privilege('public', p.oid, 'EXECUTE')`,
  );
  if (rows.length > 0) await admin.query(`REVOKE EXECUTE ON FUNCTION ${rows.map(({ name }) => String(name)).join(', ')} FROM PUBLIC`);
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

/** Its roles too, and the database when no other plugin has a schema in it; on the maintenance database. */
export async function dropRoles(admin: Connection, { owner, migrator, runtime }: DatabaseNames): Promise<void> {
  for (const role of [runtime, migrator, owner]) await admin.query(`DROP ROLE IF EXISTS ${quoted(role)}`);
}
