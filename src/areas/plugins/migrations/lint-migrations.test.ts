import { describe, expect, test } from 'vitest';
import { lintMigrations, type MigrationFile } from './lint-migrations.ts';
import type { MigrationRule } from './rules.ts';

const file = (sql: string, isContract = false, name = '002_next.sql'): MigrationFile => ({ name, sql, isContract });
const rulesOf = async (...files: MigrationFile[]): Promise<MigrationRule[]> => (await lintMigrations(files)).map(({ rule }) => rule);

describe('migrations that keep the version before working', () => {
  test.each([
    ['a nullable column', 'ALTER TABLE t ADD COLUMN c int'],
    ['a column with NOT NULL and a default', "ALTER TABLE t ADD COLUMN c text NOT NULL DEFAULT ''"],
    ['a generated column', 'ALTER TABLE t ADD COLUMN c int GENERATED ALWAYS AS (a + 1) STORED'],
    ['a serial column', 'ALTER TABLE t ADD COLUMN c bigserial NOT NULL'],
    ['a nullable unique column', 'ALTER TABLE t ADD COLUMN c int UNIQUE'],
    ['a column with a check of itself', 'ALTER TABLE t ADD COLUMN c int CHECK (c > 0)'],
    ['an index', 'CREATE INDEX i ON t (a)'],
    ['a default', 'ALTER TABLE t ALTER COLUMN a SET DEFAULT 1'],
    ['a table', 'CREATE TABLE n (id bigint PRIMARY KEY, name text NOT NULL UNIQUE)'],
    ['tables that refer to each other', 'CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (a int REFERENCES a)'],
    [
      'anything done to a table that was just made',
      'CREATE TABLE n (id int); ALTER TABLE n ADD CHECK (id > 0); CREATE UNIQUE INDEX u ON n (id); ALTER TABLE n DROP COLUMN id; DROP TABLE n',
    ],
    ['a backfill', 'UPDATE t SET c = a WHERE c IS NULL; INSERT INTO t SELECT 1'],
    ['a value more of an enum', "ALTER TYPE mood ADD VALUE 'great'"],
    [
      'a view, a function, a type',
      "CREATE VIEW v AS SELECT 1; CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TYPE e AS ENUM ('a')",
    ],
    ['nothing', '-- only a remark\n'],
    ['a table that may be there', 'CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY, parent int REFERENCES t)'],
    ['queries inside of queries', 'WITH a AS (INSERT INTO t SELECT 1 RETURNING 1) SELECT lower(x) FROM a'],
    [
      'a function that was just made, made anew and dropped',
      "CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql AS '1'; CREATE OR REPLACE FUNCTION f(b int) RETURNS int LANGUAGE sql AS '2'; DROP FUNCTION f(int)",
    ],
    [
      'a trigger of a table that was just made',
      "CREATE TABLE n (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'x'; CREATE TRIGGER x BEFORE INSERT ON n EXECUTE FUNCTION f(); CREATE UNIQUE INDEX i ON n (id); CREATE TABLE m (n int REFERENCES n); INSERT INTO m VALUES (1); DROP TRIGGER x ON n",
    ],
    ['a renamed table that was just made', 'CREATE TABLE n (id int); ALTER TABLE n RENAME TO m; DROP TABLE m'],
  ])('%s', async (_, sql) => {
    expect(await rulesOf(file(sql))).toEqual([]);
  });
});

describe('migrations that break the version before', () => {
  test.each<[string, string, MigrationRule]>([
    ['dropping a column', 'ALTER TABLE t DROP COLUMN a', 'drop-column'],
    ['dropping a table', 'DROP TABLE t', 'drop-object'],
    ['dropping a view', 'DROP VIEW IF EXISTS v', 'drop-object'],
    ['dropping an index, which an upsert may use', 'DROP INDEX i', 'drop-object'],
    ['dropping a function', 'DROP FUNCTION f(int)', 'drop-object'],
    ['dropping a constraint', 'ALTER TABLE t DROP CONSTRAINT c', 'drop-constraint'],
    ['renaming a column', 'ALTER TABLE t RENAME COLUMN a TO b', 'rename'],
    ['renaming a table', 'ALTER TABLE t RENAME TO u', 'rename'],
    ['renaming a value of an enum', "ALTER TYPE mood RENAME VALUE 'a' TO 'b'", 'rename'],
    ['moving a table', 'ALTER TABLE t SET SCHEMA other', 'set-schema'],
    ['changing a type', 'ALTER TABLE t ALTER COLUMN a TYPE text', 'change-type'],
    ['NOT NULL', 'ALTER TABLE t ALTER COLUMN a SET NOT NULL', 'set-not-null'],
    ['no more NOT NULL', 'ALTER TABLE t ALTER COLUMN a DROP NOT NULL', 'drop-not-null'],
    ['no more default', 'ALTER TABLE t ALTER COLUMN a DROP DEFAULT', 'drop-default'],
    ['no more identity', 'ALTER TABLE t ALTER COLUMN a DROP IDENTITY', 'drop-default'],
    ['a required column', 'ALTER TABLE t ADD COLUMN c int NOT NULL', 'add-required-column'],
    ['a unique column with a default', 'ALTER TABLE t ADD COLUMN c int UNIQUE DEFAULT 1', 'add-unique'],
    ['a unique constraint', 'ALTER TABLE t ADD UNIQUE (a)', 'add-unique'],
    ['a unique index', 'CREATE UNIQUE INDEX u ON t (a)', 'add-unique'],
    ['a check', 'ALTER TABLE t ADD CHECK (a > 0)', 'add-check'],
    ['a check that is not validated', 'ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID', 'add-check'],
    ['a new column with a check of an old one', 'ALTER TABLE t ADD COLUMN c int CHECK (c > a)', 'add-check'],
    ['a foreign key', 'ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u (id)', 'add-foreign-key'],
    ['a new column that refers to an old table', 'ALTER TABLE t ADD COLUMN u int REFERENCES u', 'add-foreign-key'],
    ['a new table that refers to an old one', 'CREATE TABLE n (t int REFERENCES t)', 'add-foreign-key'],
    ['a new table that refers to an old one, written below', 'CREATE TABLE n (t int, FOREIGN KEY (t) REFERENCES t)', 'add-foreign-key'],
    ['row level security', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY', 'row-security'],
    ['a trigger', 'CREATE TRIGGER x BEFORE INSERT ON t EXECUTE FUNCTION f()', 'add-trigger'],
    ['another view of the same name', 'CREATE OR REPLACE VIEW v AS SELECT 1', 'replace-object'],
    ['another function of the same name', "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", 'replace-object'],
    ['TRUNCATE', 'TRUNCATE t', 'delete-rows'],
    ['DELETE', 'DELETE FROM t', 'delete-rows'],
    ['DELETE within WITH', 'WITH d AS (DELETE FROM t RETURNING 1) SELECT 1', 'delete-rows'],
    ['DELETE within WITH of a new table', 'CREATE TABLE n AS WITH d AS (DELETE FROM t RETURNING 1) SELECT 1', 'delete-rows'],
    ['MERGE within WITH', 'WITH d AS (MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE RETURNING 1) SELECT 1', 'unknown-statement'],
    ['dropping a table that may have been there', 'CREATE TABLE IF NOT EXISTS t (id int); DROP TABLE t', 'drop-object'],
    ['a changed table that may have been there', 'CREATE TABLE IF NOT EXISTS t (id int); ALTER TABLE t DROP COLUMN a', 'drop-column'],
    ['dropping one that was made only when it was not there', 'CREATE TABLE IF NOT EXISTS t AS SELECT 1; DROP TABLE t', 'drop-object'],
    ['dropping what a temporary table hid', 'CREATE TEMP TABLE t (id int); DROP TABLE t', 'drop-object'],
    ['dropping what had the name before', 'CREATE TABLE n (id int); DROP TABLE n; DROP TABLE n', 'drop-object'],
    ['dropping what has the name of a table', 'CREATE TABLE x (id int); DROP TRIGGER x ON t', 'drop-object'],
    [
      'dropping another function of the name',
      "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS '1'; DROP FUNCTION f(text)",
      'drop-object',
    ],
    ['dropping whichever function has the name', "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS '1'; DROP FUNCTION f", 'drop-object'],
    [
      'replacing another function of the name',
      "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS '1'; CREATE OR REPLACE FUNCTION f(text) RETURNS int LANGUAGE sql AS '1'",
      'replace-object',
    ],
    ['what is not known', 'ALTER TABLE t CLUSTER ON i, SET WITHOUT OIDS', 'unknown-statement'],
    ['a statement that is not known', 'VACUUM t', 'unknown-statement'],
  ])('%s', async (_, sql, rule) => {
    expect(await rulesOf(file(sql))).toEqual([rule]);
  });

  test('are accepted as the contract half', async () => {
    expect(await rulesOf(file('ALTER TABLE t DROP COLUMN a; DROP TABLE u; ALTER TABLE v ALTER COLUMN b SET NOT NULL', true))).toEqual([]);
  });
});

describe('migrations that are nobody’s but the platform’s', () => {
  test.each<[string, string, MigrationRule]>([
    ['ending the transaction', 'COMMIT', 'transaction-control'],
    ['another role', 'SET ROLE postgres', 'session-setting'],
    ['no role', 'RESET ROLE', 'session-setting'],
    ['time limits', 'SET lock_timeout = 0', 'session-setting'],
    ['rights', 'GRANT ALL ON t TO PUBLIC', 'change-rights'],
    ['another owner', 'ALTER TABLE t OWNER TO x', 'change-rights'],
    ['default rights', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC', 'change-rights'],
    ['a schema', 'CREATE SCHEMA s', 'outside-schema'],
    ['another schema', 'CREATE TABLE public.t (id int)', 'outside-schema'],
    ['another schema in a query', 'INSERT INTO t SELECT * FROM other.t', 'outside-schema'],
    ['an extension', 'CREATE EXTENSION dblink', 'extension'],
    ['a block of code', 'DO $$ BEGIN EXECUTE 1; END $$', 'unjudged-code'],
    ...[
      ['in a query', 'SELECT f()'],
      ['anywhere in a query', 'SELECT 1 WHERE EXISTS (SELECT 1 FROM f() AS x)'],
      ['in a backfill', 'UPDATE t SET a = f()'],
      ['in the default of a column', 'ALTER TABLE t ADD COLUMN c int DEFAULT f()'],
      ['in an index', 'CREATE INDEX i ON t (f())'],
      ['in a domain', 'CREATE DOMAIN d AS int CHECK (f() > 0)'],
      ['by a default of a new table', 'CREATE TABLE n (id int DEFAULT f()); INSERT INTO n DEFAULT VALUES'],
      ['by a view', 'CREATE VIEW v AS SELECT f(); CREATE VIEW w AS SELECT * FROM v; SELECT * FROM w'],
      ['by a trigger', 'CREATE TABLE n (id int); CREATE TRIGGER x BEFORE INSERT ON n EXECUTE FUNCTION f(); INSERT INTO n VALUES (1)'],
    ].map(([how, sql]): [string, string, MigrationRule] => [
      `code of its own, ${how}`,
      `CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP TABLE t'; END $$; ${sql}`,
      'unjudged-code',
    ]),
    ['an index beside the transaction', 'CREATE INDEX CONCURRENTLY i ON t (a)', 'concurrently'],
    ['what is no SQL', 'CREATE TABEL t', 'syntax-error'],
  ])('%s, not even as the contract half', async (_, sql, rule) => {
    expect(await rulesOf(file(sql, true))).toEqual([rule]);
  });
});

test('a problem says where it is and how to split it', async () => {
  const sql = '-- Grüße, in two bytes\nCREATE TABLE n (id int);\n\n/* why\n not */\n  ALTER TABLE t\n    DROP COLUMN a;\n';
  expect(await lintMigrations([file(sql)])).toEqual([
    {
      file: '002_next.sql',
      line: 6,
      rule: 'drop-column',
      message:
        'ALTER TABLE t DROP COLUMN a; stop using the column in this version, and drop it in the next, declared under spec.database.migrations.contract',
    },
  ]);
});

test('a syntax error says its line', async () => {
  expect(await lintMigrations([file('SELECT 1;\nSELEC 2;')])).toMatchObject([
    { line: 2, rule: 'syntax-error', message: expect.stringContaining('SELEC') },
  ]);
});

test('what one file made is new for the next', async () => {
  expect(await rulesOf(file('CREATE TABLE n (id int)', false, '002.sql'), file('ALTER TABLE n DROP COLUMN id', false, '003.sql'))).toEqual(
    [],
  );
});
