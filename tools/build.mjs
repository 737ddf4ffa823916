// Bundles every program in src/main into dist/, with shared chunks so that rarely used parts load only when needed.
import { build } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

rmSync('dist', { recursive: true, force: true });
// A program is what nothing else imports: the rest of src/main becomes part of the programs, in as few files as they can share.
const files = readdirSync('src/main').filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
const imported = new Set(
  files.flatMap((file) => [...readFileSync(`src/main/${file}`, 'utf8').matchAll(/'\.\/([\w-]+\.ts)'/g)].map(([, name]) => name)),
);
const entryPoints = files.filter((file) => !imported.has(file)).map((file) => `src/main/${file}`);
await build({
  entryPoints,
  outdir: 'dist',
  bundle: true,
  splitting: true,
  // Names stay: they are what stack traces show.
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'linked',
  define: { TENANTRY_VERSION: JSON.stringify(JSON.parse(readFileSync('package.json', 'utf8')).version) },
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});
// What a worker's machine starts with, each in one file: machines that are emulated take longest to find and link the many files of a program.
await build({
  entryPoints: ['src/main/worker.ts', 'src/main/shim.ts'],
  outdir: 'dist/worker-image',
  bundle: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Native code is loaded from its package.
  external: ['koffi'],
  define: { TENANTRY_VERSION: JSON.stringify(JSON.parse(readFileSync('package.json', 'utf8')).version) },
  banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
  logLevel: 'warning',
});
// Recorded facts about Kubernetes stay beside the code as data files: they are read when first needed, not parsed at start.
const recorded = 'src/engine/apiserver/builtin/generated';
if (existsSync(recorded)) cpSync(recorded, 'dist/kubernetes', { recursive: true, filter: (path) => !path.endsWith('.ts') });

// The CRDs of our Kinds, from their one source in src/api, with Kubernetes' own types put in from the recorded documents.
const bundle = 'dist/custom-resource-definitions.tmp.mjs';
await build({
  entryPoints: ['src/api/custom-resource-definitions.ts'],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  logLevel: 'warning',
});
const { customResourceDefinitions } = await import(pathToFileURL(bundle));
const core = JSON.parse(gunzipSync(readFileSync(`${recorded}/openapi/v3/api_v1.json.gz`)));
mkdirSync('dist/crds');
for (const definition of customResourceDefinitions(core.components.schemas)) {
  writeFileSync(`dist/crds/${definition.metadata.name}.json`, JSON.stringify(definition));
}
rmSync(bundle);

// The shape of plugin.yaml, for editors.
const schemaBundle = 'dist/manifest-json-schema.tmp.mjs';
await build({
  entryPoints: ['src/api/adapstory.com/v1/manifest-json-schema.ts'],
  outfile: schemaBundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  logLevel: 'warning',
});
const { manifestJsonSchema } = await import(pathToFileURL(schemaBundle));
mkdirSync('dist/schemas');
writeFileSync('dist/schemas/plugin.schema.json', JSON.stringify(manifestJsonSchema(), undefined, 2));
rmSync(schemaBundle);

// The types of `import { runs } from 'tenantry'`: interfaces that stand alone, so the file is its own declaration.
writeFileSync(
  'dist/sdk.d.ts',
  [
    readFileSync('src/sdk/runs-api.ts', 'utf8'),
    '/** Runs of the cluster that the options name; what they leave out is found as `krt` finds it. */',
    'export declare function connect(options?: ClusterOptions): Runs;',
    '/** Runs of the cluster and namespace that `krt` would use here. */',
    'export declare const runs: Runs;',
    '',
  ].join('\n'),
);
