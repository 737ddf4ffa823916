import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';

/** The Go module that pins Helm. Tests run from the root of the checkout. */
const MODULE_FOLDER = 'test/full/helm';
const PACKAGE = 'helm.sh/helm/v4/cmd/helm';

/** The path of a real Helm, built on first use. It takes minutes and never differs for the same pins, so it outlives the checkout. */
export async function helmBinary(): Promise<string> {
  const pins = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) pins.update(readFileSync(join(MODULE_FOLDER, file)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', 'helm', pins.digest('hex').slice(0, 12));
  const [path, done] = [join(folder, 'helm'), join(folder, 'built')];
  if (existsSync(done)) return path;
  mkdirSync(folder, { recursive: true });
  console.error(`Building Helm into ${folder}; the first time takes minutes.`);
  const { code, stderr } = await type('go', ['-C', MODULE_FOLDER, 'build', '-ldflags', '-s -w', '-o', path, PACKAGE]);
  if (code !== 0) throw new Error(`Cannot build "${PACKAGE}": exit code ${code}; it said: ${stderr.slice(-4000)}`);
  writeFileSync(done, '');
  return path;
}
