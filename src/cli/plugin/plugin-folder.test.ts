import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { init } from './init.ts';
import { readPluginFolder } from './plugin-folder.ts';

let folder: string;
const silent = { out: () => {}, err: () => {} };
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenantry-plugin-'));
  await init(silent, folder, { name: 'hello', publisher: 'acme', image: 'registry.example/acme/hello' });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}
const change = async (edit: (text: string) => string): Promise<void> => {
  const { readFile } = await import('node:fs/promises');
  await write('plugin.yaml', edit(await readFile(join(folder, 'plugin.yaml'), 'utf8')));
};
const messages = async () => (await readPluginFolder(folder)).problems.map(({ line, message }) => `${line}: ${message}`);

it('a new plugin has no problems, and nothing of it is written over', async () => {
  const { manifest, files, problems } = await readPluginFolder(join(folder, 'plugin.yaml'));
  expect(problems).toEqual([]);
  expect(manifest!.metadata).toMatchObject({ name: 'hello', publisher: 'acme' });
  expect(Object.keys(files)).toEqual(['schemas/hello.json']);
  await expect(init(silent, folder, { name: 'x', publisher: 'acme', image: 'r.example/x' })).rejects.toThrow('it is there already');
  await expect(init(silent, join(folder, 'n'), { name: 'No Name', publisher: 'acme', image: 'r.example/x' })).rejects.toThrow(
    'metadata.name',
  );
});

it('migrations are read in order; files that are no migrations, and missing ones, are told', async () => {
  await change((text) => `${text}  database:\n    migrations: { path: sql, contract: [003_gone.sql] }\n`);
  expect(await messages()).toEqual(['26: spec.database.migrations.path: there is no "sql" beside the manifest']);
  await write('sql/002_more.sql', 'select 2');
  await write('sql/001_first.sql', 'select 1');
  await write('sql/README.md', 'not read');
  await write('sql/last.sql', 'select 3');
  expect(await messages()).toEqual([
    '26: spec.database.migrations.path: "sql/last.sql": expected a name such as 001_first_table.sql',
    '26: spec.database.migrations.contract.0: there is no file "003_gone.sql" in sql',
  ]);
  expect(Object.keys((await readPluginFolder(folder)).files)).toEqual(['schemas/hello.json', 'sql/001_first.sql', 'sql/002_more.sql']);
});

it.each<[string, () => Promise<void>, string]>([
  ['a link out of the folder', () => linkOut('schemas/hello.json'), '"schemas/hello.json" leads out of the folder'],
  ['a folder that is a link out', () => linkOut('schemas'), '"schemas/hello.json" leads out of the folder'],
  ['a file that is missing', () => rm(join(folder, 'schemas/hello.json')), 'there is no "schemas/hello.json" beside the manifest'],
  ['a file that is too large', () => write('schemas/hello.json', `{"x":"${'x'.repeat(300_000)}"}`), 'larger than 262144 bytes'],
  ['a schema that is no JSON', () => write('schemas/hello.json', '{'), 'expected JSON'],
  ['a schema that is a list', () => write('schemas/hello.json', '[]'), 'expected a JSON Schema'],
])('is refused: %s', async (_, breakIt, message) => {
  await breakIt();
  expect((await messages()).join('\n')).toContain(message);
});

async function linkOut(path: string): Promise<void> {
  const outside = await mkdtemp(join(tmpdir(), 'tenantry-outside-'));
  await writeFile(join(outside, 'hello.json'), '{}');
  await rm(join(folder, path), { recursive: true });
  await symlink(path.endsWith('.json') ? join(outside, 'hello.json') : outside, join(folder, path));
  // The link stays; what it leads to is not needed any longer than the test.
  outsides.push(outside);
}
const outsides: string[] = [];
afterEach(async () => {
  for (const outside of outsides.splice(0)) await rm(outside, { recursive: true, force: true });
});

it('a folder without a manifest says how to begin', async () => {
  await expect(readPluginFolder(join(folder, 'schemas'))).rejects.toThrow('`tenantry plugin init` makes a plugin to start from');
});
