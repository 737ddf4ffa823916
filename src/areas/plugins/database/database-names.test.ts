import { expect, test } from 'vitest';
import { databaseNames, literal, quoted } from './database-names.ts';

test('databaseNames are those of the document', () => {
  expect(databaseNames('school', 'hello-world')).toEqual({
    database: 'tenant_school',
    schema: 'plugin_hello-world',
    owner: 'plugin_hello-world_school_owner',
    migrator: 'plugin_hello-world_school_migrator',
    runtime: 'plugin_hello-world_school',
    second: 'plugin_hello-world_school_second',
  });
});

test('databaseNames fit, and differ where only their ends do', () => {
  const long = 'p'.repeat(62);
  const all = [
    databaseNames('t'.repeat(40), `${long}a`),
    databaseNames('t'.repeat(40), `${long}b`),
    databaseNames('a-b', 'c'),
    databaseNames('a', 'b-c'),
  ];
  for (const names of all) for (const name of Object.values(names)) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
  expect(new Set(all.map(({ runtime }) => runtime)).size).toBe(all.length);
  expect(all[0].schema).not.toBe(all[1].schema);
});

test.each([
  ['a "name"', quoted('a "name"'), '"a ""name"""'],
  ['a text', literal("it's \\ here"), "E'it\\'s \\\\ here'"],
])('%s is written so that it stays one', (_, written, expected) => {
  expect(written).toBe(expected);
});
