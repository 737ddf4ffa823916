import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type } from '../e2e/command.ts';

const MODULE = 'github.com/external-secrets/external-secrets';
/** The last that can be built from published modules; it serves the v1 API. */
const VERSION = 'v0.20.4';

/** The folder of the operator's sources, with its definitions. */
export async function externalSecretsSource(): Promise<string> {
  const { code, stdout, stderr } = await type('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`], {}, 600_000);
  if (code !== 0) throw new Error(`Cannot fetch "${MODULE}": go ended with ${code}; this test needs Go. It said: ${stderr.slice(-2000)}`);
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** The path of the real External Secrets Operator, built on first use and kept. */
export async function externalSecretsBinary(): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'tenantry', `external-secrets-${VERSION}`);
  const program = join(folder, 'external-secrets');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  console.error(`Building the External Secrets Operator into ${folder}; the first time takes minutes.`);
  // Built as the main module: only then the one `replace` of its go.mod counts.
  const work = mkdtempSync(join(tmpdir(), 'external-secrets-'));
  try {
    cpSync(await externalSecretsSource(), work, { recursive: true });
    await type('chmod', ['-R', 'u+w', work]);
    const built = `${program}.new`;
    const { code, stderr } = await type('go', ['-C', work, 'build', '-ldflags', '-s -w', '-o', built, '.'], {}, 1_700_000);
    if (code !== 0) throw new Error(`Cannot build "${MODULE}": go ended with ${code}; it said: ${stderr.slice(-2000)}`);
    renameSync(built, program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return program;
}
