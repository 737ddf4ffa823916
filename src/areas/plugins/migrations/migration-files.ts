import type { PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { MigrationFile } from './lint-migrations.ts';

/** The migrations that a version brings, in the order in which they are applied: by the number that their names begin with. */
export function migrationFiles({ spec }: PluginVersion): MigrationFile[] {
  const { path, contract = [] } = spec.manifest.spec.database?.migrations ?? {};
  if (path === undefined) return [];
  const declared = new Set(contract.map((file) => file.split('/').at(-1)));
  return Object.entries(spec.files ?? {})
    .filter(([file]) => file.startsWith(`${path}/`) && file.endsWith('.sql'))
    .map(([file, sql]) => ({ name: file.slice(path.length + 1), sql }))
    .sort((a, b) => numberOf(a.name) - numberOf(b.name) || a.name.localeCompare(b.name, 'en'))
    .map(({ name, sql }) => ({ name, sql, isContract: declared.has(name) }));
}

function numberOf(name: string): number {
  return Number(/^\d+/.exec(name)?.[0] ?? Number.MAX_SAFE_INTEGER);
}

/** Those to be judged: what the version at work does not have. With nothing at work nothing can break, and only what is never allowed counts. */
export function filesToJudge(version: PluginVersion, atWork: PluginVersion | undefined): MigrationFile[] {
  const files = migrationFiles(version);
  if (!atWork) return files.map((file) => ({ ...file, isContract: true }));
  const known = new Set(migrationFiles(atWork).map(({ name }) => name));
  return files.filter(({ name }) => !known.has(name));
}
