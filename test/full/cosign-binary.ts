import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';

const MODULE = 'github.com/sigstore/cosign/v3/cmd/cosign';
const VERSION = 'v3.1.3';

/** The path of the real cosign, built on first use and kept. */
export async function cosignBinary(): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', `cosign-${VERSION}`);
  const program = join(folder, 'cosign');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  console.error(`Building cosign into ${folder}; the first time takes minutes.`);
  const { code, stderr } = await type('go', ['install', '-ldflags', '-s -w', `${MODULE}@${VERSION}`], { GOBIN: folder }, 1_700_000);
  if (code !== 0) throw new Error(`Cannot build "${MODULE}": go ended with ${code}; this test needs Go. It said: ${stderr.slice(-2000)}`);
  return program;
}
