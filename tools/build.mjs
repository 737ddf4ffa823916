// Bundles every composition root in src/main into dist/, with shared chunks so that rarely used parts load only when needed.
import { build } from 'esbuild';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const entryPoints = readdirSync('src/main')
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => `src/main/${file}`);
await build({
  entryPoints,
  outdir: 'dist',
  bundle: true,
  splitting: true,
  minifySyntax: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'linked',
  define: { TENANTRY_VERSION: JSON.stringify(JSON.parse(readFileSync('package.json', 'utf8')).version) },
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});
// Recorded facts about Kubernetes stay beside the code as data files: they are read when first needed, not parsed at start.
const recorded = 'src/engine/apiserver/builtin/generated';
if (existsSync(recorded)) cpSync(recorded, 'dist/kubernetes', { recursive: true, filter: (path) => !path.endsWith('.ts') });
