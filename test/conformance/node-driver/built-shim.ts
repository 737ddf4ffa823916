import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

let built: Promise<string> | undefined;

/**
 * The shim as a program that Node can run, made from the sources that are tested. It lies below node_modules because that is where
 * it finds the packages it uses, named by its content: tests that run at the same time share it. A test that runs as another user,
 * who may not write there, is told in TENANTRY_TEST_SHIM where it is.
 */
export function builtShim(): Promise<string> {
  const ready = process.env.TENANTRY_TEST_SHIM;
  built ??= ready === undefined ? buildShim() : Promise.resolve(ready);
  return built;
}

async function buildShim(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['src/main/shim.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  const [{ contents }] = outputFiles;
  const folder = resolve('node_modules/.cache/tenantry-shim');
  mkdirSync(folder, { recursive: true });
  const program = `${folder}/${createHash('sha256').update(contents).digest('hex').slice(0, 16)}.mjs`;
  if (!existsSync(program)) {
    writeFileSync(`${program}.${process.pid}`, contents);
    renameSync(`${program}.${process.pid}`, program);
  }
  return program;
}
