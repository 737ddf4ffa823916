import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRegistry } from '../support/oci-registry.ts';
import type { ArchiveEntry } from '../support/tar-archive.ts';

/** What `docker build` would make of a sample plugin's folder: Node, the libraries it needs, and the program. */
export function pushPluginImage(registry: TestRegistry, repository: string, tag: string, folder: string): string {
  const layers = [nodeLayer(), [{ name: 'app/server.mjs', content: readFileSync(join(folder, 'server.mjs')), mode: 0o644 }]];
  const config = { User: '10001', WorkingDir: '/app', Cmd: ['/usr/bin/node', 'server.mjs'], Env: ['PATH=/usr/bin'] };
  return registry.push(repository, tag, { layers, config }).digest;
}

let entries: ArchiveEntry[] | undefined;

/** The Node that runs this test, with its loader and libraries where it looks for them. */
function nodeLayer(): ArchiveEntry[] {
  if (entries !== undefined) return entries;
  const node = realpathSync(process.execPath);
  const libraries = execFileSync('ldd', [node], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  const file = (name: string, path: string): ArchiveEntry => ({
    name: name.slice(1),
    content: readFileSync(realpathSync(path)),
    mode: 0o755,
  });
  return (entries = [file('/usr/bin/node', node), ...libraries.map((path) => file(path, path))]);
}
