import type { Connection } from './provision.ts';

/** Of the whole database, or of the whole server: plugins would meet in them, or count each other's rows. */
const SHARED_FUNCTIONS =
  '^(pg_(try_)?advisory_|lo_|loread$|lowrite$|pg_notify$|pg_(total_)?relation_size$|pg_table_size$|pg_indexes_size$|pg_database_size$|pg_tablespace_size$)';
/** What others wrote: the source of their functions and views. */
const SOURCE_FUNCTIONS = '^pg_get_(functiondef|function_sqlbody|viewdef|ruledef)$';
const SOURCE_COLUMNS = ['prosrc', 'probin', 'prosqlbody', 'proargdefaults'];
/** Who else is on this server: the list of tenants and of their plugins. */
const SHARED_VIEWS = [
  'pg_roles',
  'pg_user',
  'pg_group',
  'pg_database',
  'pg_auth_members',
  'pg_db_role_setting',
  'pg_shdescription',
  'pg_shdepend',
  'pg_stat_activity',
  'pg_stat_database',
  'pg_stat_database_conflicts',
  'pg_stat_ssl',
  'pg_stat_gssapi',
  'pg_stat_replication',
  'pg_prepared_xacts',
];
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Takes from PUBLIC what would show plugins of one database to each other, as far as PostgreSQL lets it be taken: names of tables and columns
 * stay visible. Administrators that are no superusers cannot take away what the server gave; then that part stays as it was.
 */
export async function closeCatalogues(admin: Connection): Promise<void> {
  await admin.query('REVOKE ALL ON SCHEMA public FROM PUBLIC');
  await ifPermitted(async () => {
    await closeFunctions(admin);
    await closeViews(admin);
    await closeSource(admin);
  });
}

/** What only superusers can do is left undone by other administrators. */
export async function ifPermitted(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
  }
}

async function closeFunctions(admin: Connection): Promise<void> {
  const { rows } = await admin.query(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'pg_catalog'::regnamespace AND (p.proname ~ $1 OR p.proname ~ $2)
       AND has_function_privilege('public', p.oid, 'EXECUTE')`,
    [SHARED_FUNCTIONS, SOURCE_FUNCTIONS],
  );
  if (rows.length > 0) await admin.query(`REVOKE EXECUTE ON FUNCTION ${rows.map(({ name }) => String(name)).join(', ')} FROM PUBLIC`);
  // Blocks of code: what cannot be judged cannot be run; functions that a migration made still can.
  await admin.query('REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC');
}

async function closeViews(admin: Connection): Promise<void> {
  const { rows } = await admin.query(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'pg_catalog'::regnamespace AND relname = ANY($1) AND has_table_privilege('public', oid, 'SELECT')`,
    [SHARED_VIEWS],
  );
  if (rows.length > 0) await admin.query(`REVOKE SELECT ON ${rows.map(({ name }) => `pg_catalog.${String(name)}`).join(', ')} FROM PUBLIC`);
}

/** All of `pg_proc` but what is inside: clients look up functions and types in it. */
async function closeSource(admin: Connection): Promise<void> {
  const { rows } = await admin.query(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = 'pg_catalog.pg_proc'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL($1)
       AND has_table_privilege('public', attrelid, 'SELECT')`,
    [SOURCE_COLUMNS],
  );
  if (rows.length === 0) return;
  const columns = rows.map(({ name }) => String(name)).join(', ');
  await admin.query(`REVOKE SELECT ON pg_catalog.pg_proc FROM PUBLIC; GRANT SELECT (${columns}) ON pg_catalog.pg_proc TO PUBLIC`);
}
