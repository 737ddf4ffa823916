import type { Client } from 'pg';
import { quoted } from '../database-names.ts';
import { copyOut } from './copy-out.ts';
import { STRUCTURE_AFTER_ROWS, STRUCTURE_BEFORE_ROWS } from './structure-queries.ts';

type Write = (text: string) => Promise<void> | void;

/**
 * One schema as a file for `psql`: first what rows need, then the rows as `COPY`, then what would only be in their way (keys, indexes,
 * triggers). All of one moment, streamed.
 */
export async function exportSchema(client: Client, schema: string, write: Write): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // Names without the schema in front of them, however the server writes a definition.
  await client.query(`SET LOCAL search_path = ${quoted(schema)}`);
  await client.query("SET LOCAL statement_timeout = 0; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 3");
  await write(`${HEAD(schema)}\n`);
  await definitions(client, schema, STRUCTURE_BEFORE_ROWS, write);
  await rowsOf(client, schema, write);
  await definitions(client, schema, STRUCTURE_AFTER_ROWS, write);
  await write('COMMIT;\n');
  await client.query('COMMIT');
}

const HEAD = (schema: string): string =>
  [
    `-- Schema ${schema}: restore with psql, as an administrator, into an empty database.`,
    "SET client_encoding = 'UTF8';",
    'SET check_function_bodies = false;',
    'BEGIN;',
    `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)};`,
    `SET search_path = ${quoted(schema)};`,
  ].join('\n');

async function definitions(client: Client, schema: string, queries: readonly string[], write: Write): Promise<void> {
  for (const query of queries) {
    const { rows } = await client.query<{ sql: string }>(query, [schema]);
    for (const { sql } of rows) await write(`${sql};\n`);
  }
}

/** Tables with rows of their own, with the columns that can be written. */
async function rowsOf(client: Client, schema: string, write: Write): Promise<void> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND c.relkind = 'r'
     GROUP BY c.oid, c.relname ORDER BY c.oid`,
    [schema],
  );
  for (const { name, columns } of rows) {
    await write(`COPY ${quoted(name)} (${columns}) FROM stdin;\n`);
    await copyOut(client, `COPY ${quoted(schema)}.${quoted(name)} (${columns}) TO STDOUT`, write);
    await write('\\.\n');
  }
}
