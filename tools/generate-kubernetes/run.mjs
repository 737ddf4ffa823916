// Regenerates everything that is recorded from Kubernetes: `node tools/generate-kubernetes/run.mjs`.
// The generator is TypeScript and shares the control plane of the tests, so it is bundled first: Node 20 does not run TypeScript.
import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-generate-'));
try {
  const outfile = join(folder, 'main.mjs');
  await build({
    entryPoints: ['tools/generate-kubernetes/main.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  const { generate } = await import(pathToFileURL(outfile).href);
  await generate(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true });
}
