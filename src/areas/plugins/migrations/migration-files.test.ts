import { expect, test } from 'vitest';
import { filesToJudge, migrationFiles } from './migration-files.ts';

const version = (files: Record<string, string>, contract: string[] = []) =>
  ({ spec: { files, manifest: { spec: { database: { migrations: { path: 'db', contract } } } } } }) as never;
const files = { 'db/10_c.sql': 'c', 'db/2_b.sql': 'b', 'db/001_a.sql': 'a', 'db/notes.md': 'x', 'other/1.sql': 'y' };

test('migrationFiles are those of the folder, by their numbers', () => {
  expect(migrationFiles(version(files, ['db/10_c.sql']))).toEqual([
    { name: '001_a.sql', sql: 'a', isContract: false },
    { name: '2_b.sql', sql: 'b', isContract: false },
    { name: '10_c.sql', sql: 'c', isContract: true },
  ]);
});

test('filesToJudge are those that the version at work does not have', () => {
  expect(filesToJudge(version(files), version({ 'db/001_a.sql': 'a' })).map(({ name }) => name)).toEqual(['2_b.sql', '10_c.sql']);
});

test('filesToJudge are all, leniently, when nothing is at work', () => {
  expect(filesToJudge(version(files), undefined).map(({ isContract }) => isContract)).toEqual([true, true, true]);
});
