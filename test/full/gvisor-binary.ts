import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';

/** The Go module that pins gVisor. Tests run from the root of the checkout. */
const MODULE_FOLDER = 'test/full/gvisor';

/** The path of runsc, built on first use and kept: the same pins make the same program. */
export async function runsc(): Promise<string> {
  const pins = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) pins.update(readFileSync(join(MODULE_FOLDER, file)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', 'gvisor', pins.digest('hex').slice(0, 12));
  const [path, done] = [join(folder, 'runsc'), join(folder, 'runsc.built')];
  if (existsSync(done)) return path;
  mkdirSync(folder, { recursive: true });
  console.error(`Building runsc into ${folder}; the first time takes minutes.`);
  // It starts itself again where there are no libraries.
  const build = ['CGO_ENABLED=0', 'go', '-C', MODULE_FOLDER, 'build', '-ldflags', '-s -w', '-o', path, 'gvisor.dev/gvisor/runsc'];
  const { code, stderr } = await type('env', build);
  if (code !== 0) throw new Error(`Cannot build runsc: exit code ${code}; it said: ${stderr.slice(-4000)}`);
  writeFileSync(done, '');
  return path;
}
