import { quoted, type DatabaseNames } from './database-names.ts';
import type { Connection } from './provision.ts';
import { digestOf, type Applied, type Migration } from './settled.ts';

/** Where the plugin's schema remembers what was applied. */
const TABLE = '_tenantry_migrations';
/** A migration that waits for a lock holds up everybody behind it; better to try again. */
const LOCK_TIMEOUT = '5s';
const STATEMENT_TIMEOUT = '10min';

/** The database no longer has what the version needs: there is no way back to it. */
export class ContractPassedError extends Error {
  constructor(migrations: readonly string[]) {
    super(`${migrations.join(', ')} took away what it needs from its database; publish a version that works with what is there`);
    this.name = 'ContractPassedError';
  }
}

/** A migration that was refused by the database, or is not the one that was applied under its name. */
export class MigrationError extends Error {
  readonly file: string;

  constructor(file: string, message: string, options?: ErrorOptions) {
    super(`Cannot apply migration "${file}": ${message}`, options);
    this.name = 'MigrationError';
    this.file = file;
  }
}

/**
 * Applies what was not applied yet, in order, each file in a transaction together with the note that it was: a crash leaves it applied or
 * not, never in between. Two that migrate at once do it one after the other. @returns all that are applied
 */
export async function migrate(
  migrator: Connection,
  { schema, runtime }: DatabaseNames,
  migrations: readonly Migration[],
): Promise<Applied[]> {
  const table = `${quoted(schema)}.${quoted(TABLE)}`;
  await migrator.query(
    `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  await migrator.query(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS contract boolean NOT NULL DEFAULT false`);
  await migrator.query(`REVOKE ALL ON ${table} FROM ${quoted(runtime)}`);
  await refuseIfPassed(migrator, table, migrations);
  for (const migration of migrations) await inTransaction(migrator, migration.name, () => apply(migrator, table, migration));
  const { rows } = await migrator.query(`SELECT name, digest, contract FROM ${table} ORDER BY name`);
  return rows.map(({ name, digest, contract }) => ({ name: String(name), digest: String(digest), isContract: contract === true }));
}

/** What was applied says so itself, whatever became of the versions that brought it. */
async function refuseIfPassed(migrator: Connection, table: string, migrations: readonly Migration[]): Promise<void> {
  const names = migrations.map(({ name }) => name);
  const { rows } = await migrator.query(`SELECT name FROM ${table} WHERE contract AND name <> ALL($1) ORDER BY name`, [names]);
  if (rows.length > 0) throw new ContractPassedError(rows.map(({ name }) => String(name)));
}

async function apply(migrator: Connection, table: string, { name, sql, isContract = false }: Migration): Promise<void> {
  await migrator.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  const digest = digestOf(sql);
  const { rows } = await migrator.query(`SELECT digest FROM ${table} WHERE name = $1`, [name]);
  if (rows.length > 0 && rows[0]['digest'] !== digest) {
    throw new MigrationError(name, 'another file of this name was applied before; a published migration never changes, add another one');
  }
  if (rows.length > 0) return;
  await migrator.query(sql);
  await migrator.query(`INSERT INTO ${table} (name, digest, contract) VALUES ($1, $2, $3)`, [name, digest, isContract]);
}

async function inTransaction(migrator: Connection, file: string, work: () => Promise<void>): Promise<void> {
  await migrator.query('BEGIN');
  try {
    await migrator.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await migrator.query(`SET LOCAL statement_timeout = '${STATEMENT_TIMEOUT}'`);
    await work();
    await migrator.query('COMMIT');
  } catch (error) {
    await migrator.query('ROLLBACK').catch(() => {});
    if (error instanceof MigrationError || mayPass(error)) throw error;
    throw new MigrationError(file, (error as Error).message, { cause: error });
  }
}

/** A lock that did not come in time, a deadlock, a server that is full, going or coming; and whatever has no code, a broken connection. */
const PASSING = /^(55P03|40001|40P01|08...|53...|57P..)$/;

function mayPass(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || PASSING.test(code);
}
