// Runs a benchmark: `npm run bench -- api` bundles bench/api/main.ts into a temporary folder and starts it.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [name, ...args] = process.argv.slice(2);
const known = readdirSync('bench').map((entry) => entry.replace(/\.ts$/, ''));
if (!name || !known.includes(name)) {
  console.error(`Usage: npm run bench -- <${known.join('|')}> [options]`);
  process.exit(2);
}
const folder = existsSync(join('bench', `${name}.ts`)) ? undefined : join('bench', name);
const entryPoints = folder ? readdirSync(folder).map((file) => join(folder, file)) : [join('bench', `${name}.ts`)];
// Below node_modules, so that what cannot be bundled is found.
mkdirSync(join('node_modules', '.cache'), { recursive: true });
const outdir = mkdtempSync(join('node_modules', '.cache', 'tenantry-bench-'));
await build({
  entryPoints,
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Finds its native part beside itself.
  external: ['koffi'],
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
  banner: { js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);" },
});
// Benchmarks that hold a server in their own process read the recorded facts about Kubernetes, as dist/ does.
cpSync('src/engine/apiserver/builtin/generated', join(outdir, 'kubernetes'), { recursive: true, filter: (path) => !path.endsWith('.ts') });
const { status } = spawnSync(process.execPath, [join(outdir, folder ? 'main.mjs' : `${name}.mjs`), ...args], { stdio: 'inherit' });
rmSync(outdir, { recursive: true, force: true });
process.exit(status ?? 1);
