import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

let built: Promise<string> | undefined;

/**
 * The shim as a program that Node can run, made from the sources that are tested. It lies below node_modules because that is where
 * it finds the packages it uses. Built once per test file and removed when the tests have ended; a test that runs as another user, who
 * may not write there, is told in TENANTRY_TEST_SHIM where it is.
 */
export function builtShim(): Promise<string> {
  const ready = process.env.TENANTRY_TEST_SHIM;
  built ??= ready === undefined ? buildShim() : Promise.resolve(ready);
  return built;
}

async function buildShim(): Promise<string> {
  const cache = resolve('node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${cache}/tenantry-shim-`);
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const program = `${folder}/shim.mjs`;
  await build({
    entryPoints: ['src/main/shim.ts'],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  return program;
}
