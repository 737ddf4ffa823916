import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';

/** The Go module that pins WireGuard in user space. Tests run from the root of the checkout. */
const MODULE_FOLDER = 'test/cluster/wireguard';

/** The folder with `wireguard-go`, built on first use and kept: the same pins make the same program. */
export async function wireguardFolder(): Promise<string> {
  const pins = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) pins.update(readFileSync(join(MODULE_FOLDER, file)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', 'wireguard', pins.digest('hex').slice(0, 12));
  const done = join(folder, 'wireguard-go.built');
  if (existsSync(done)) return folder;
  mkdirSync(folder, { recursive: true });
  const output = join(folder, 'wireguard-go');
  const { code, stderr } = await type('go', [
    '-C',
    MODULE_FOLDER,
    'build',
    '-ldflags',
    '-s -w',
    '-o',
    output,
    'golang.zx2c4.com/wireguard',
  ]);
  if (code !== 0) throw new Error(`Cannot build "wireguard-go": exit code ${code}; it said: ${stderr.slice(-4000)}`);
  writeFileSync(done, '');
  return folder;
}
