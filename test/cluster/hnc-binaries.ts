import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';

/** The Go module that pins HNC. Tests run from the root of the checkout. */
const MODULE_FOLDER = 'test/cluster/hnc';
const MODULE = 'sigs.k8s.io/hierarchical-namespaces';

const PACKAGES = { 'kubectl-hns': 'cmd/kubectl', 'hnc-manager': 'cmd/manager' };

/** The path of a program of the original HNC, built on first use and kept: the same pins make the same program. */
export async function hncBinary(name: keyof typeof PACKAGES): Promise<string> {
  const pins = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) pins.update(readFileSync(join(MODULE_FOLDER, file)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', 'hnc', pins.digest('hex').slice(0, 12));
  const [path, done] = [join(folder, name), join(folder, `${name}.built`)];
  if (existsSync(done)) return path;
  mkdirSync(folder, { recursive: true });
  console.error(`Building ${name} into ${folder}; the first time takes minutes.`);
  const { code, stderr } = await type('go', ['-C', MODULE_FOLDER, 'build', '-ldflags', '-s -w', '-o', path, `${MODULE}/${PACKAGES[name]}`]);
  if (code !== 0) throw new Error(`Cannot build "${name}": exit code ${code}; it said: ${stderr.slice(-4000)}`);
  writeFileSync(done, '');
  return path;
}

/** The folder of HNC's sources in the module cache, with its definitions and webhooks. */
export async function hncSource(): Promise<string> {
  const { code, stdout, stderr } = await type('go', ['-C', MODULE_FOLDER, 'list', '-m', '-f', '{{.Dir}}', MODULE]);
  if (code !== 0) throw new Error(`Cannot find the sources of "${MODULE}": exit code ${code}; it said: ${stderr}`);
  return stdout.trim();
}
