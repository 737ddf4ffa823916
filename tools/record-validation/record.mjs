// Sends bad objects to a real kube-apiserver and keeps its answers for src/engine/apiserver/validation/recorded.test.ts.
//   node tools/record-validation/record.mjs [set ...]        starts a control plane of its own
//   SERVER=https://... TOKEN=... node tools/record-validation/record.mjs [set ...]   uses that one
import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(resolve('node_modules/.record-validation-'));
try {
  const outfile = join(folder, 'recorder.mjs');
  const entry = 'tools/record-validation/recorder.ts';
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', packages: 'external' });
  const { main } = await import(pathToFileURL(outfile).href);
  await main(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
