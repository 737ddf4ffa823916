import { createHash } from 'node:crypto';

/** What PostgreSQL keeps of a name; it cuts the rest without a word. */
const MAX_BYTES = 63;
const LONGEST_SUFFIX = '_migrator'.length;
const HASH_LENGTH = 16;

export interface DatabaseNames {
  /** One per tenant: catalogues, locks and notifications are of a database. */
  database: string;
  /** One per plugin. */
  schema: string;
  /** Owns everything, cannot log in. */
  owner: string;
  /** Applies migrations, as the owner. */
  migrator: string;
  /** What the plugin logs in as: reads and writes rows, and nothing else. */
  runtime: string;
  /** The same with another name. A role has one password, so a new one comes with the other of the two. */
  second: string;
}

/**
 * `plugin_<name>_<tenant>` and what belongs to it. Neither part has an underscore, so a plain name is read in one way; one that would be cut
 * gets a hash instead of its end, after two underscores, which no plain name has.
 */
export function databaseNames(tenant: string, plugin: string): DatabaseNames {
  const runtime = fitting(`plugin_${plugin}_${tenant}`, `plugin_${plugin}`, `${plugin}/${tenant}`);
  return {
    database: `tenant_${tenant}`,
    schema: fitting(`plugin_${plugin}`, `plugin_${plugin}`, plugin),
    owner: `${runtime}_owner`,
    migrator: `${runtime}_migrator`,
    runtime,
    second: `${runtime}_second`,
  };
}

/** Which of the two the plugin logs in as next. */
export function otherLogin({ runtime, second }: Pick<DatabaseNames, 'runtime' | 'second'>, current: string): string {
  return current === runtime ? second : runtime;
}

function fitting(plain: string, start: string, identity: string): string {
  const most = MAX_BYTES - LONGEST_SUFFIX;
  if (plain.length <= most) return plain;
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH_LENGTH);
  return `${start.slice(0, most - HASH_LENGTH - 2)}__${hash}`;
}

/** A name in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in SQL, whatever `standard_conforming_strings` says. */
export function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
