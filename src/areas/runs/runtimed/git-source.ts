import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { SourceError, type FetchRepository } from './source.ts';

const CLONE_MS = 30_000;
const CHECKOUT_MS = 15_000;
const MOST_OUTPUT = 64 << 10;
/** Not the helpers that git can be told to run by a URL: `ext::`, `file:`, `fd::`. */
const ALLOWED_URL = /^(https:\/\/|ssh:\/\/|git@[A-Za-z0-9][A-Za-z0-9.-]*:)/;
const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/;

type Source = NonNullable<Run['spec']['source']>;

export interface GitOptions {
  /** The data of the Secret that a Run names for its repository. */
  credentials(name: string): Promise<Record<string, string> | undefined>;
}

/** Why a source cannot be fetched, or undefined: what git would do with it is decided before it sees it. */
export function refusedSource({ repoURL = '', commitSHA }: Source): string | undefined {
  if (!ALLOWED_URL.test(repoURL)) return `Cannot clone "${repoURL}": only https://, ssh:// and git@host: URLs are allowed`;
  // After the scheme a host may not look like a flag of ssh.
  if (/^ssh:\/\/([^@/]*@)?-/.test(repoURL) || /[\s\0]/.test(repoURL)) return `Cannot clone "${repoURL}": this is no URL of a repository`;
  if (commitSHA !== undefined && (!REFERENCE.test(commitSHA) || commitSHA.includes('..'))) {
    return `Cannot check out "${commitSHA}": this is no commit, branch or tag`;
  }
  return undefined;
}

/** Brings repositories by the git of the machine, with nothing of its configuration. */
export function gitSource(options: GitOptions): FetchRepository {
  return async (source, folder, signal) => {
    const refused = refusedSource(source);
    if (refused !== undefined) throw new SourceError(refused);
    const secrets = await mkdtemp(join(tmpdir(), 'tenantry-git-'));
    try {
      const env = await environment(source, secrets, options);
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o777 });
      const git = (args: string[], what: string, ms: number) => run(args, folder, env, `git ${what}`, ms, signal);
      await git(['init', '-q', '.'], 'clone', CLONE_MS);
      await git(['remote', 'add', 'origin', '--', source.repoURL!], 'clone', CLONE_MS);
      await git(['fetch', '-q', '--depth=1', 'origin', source.commitSHA ?? 'HEAD'], 'clone', CLONE_MS);
      await git(['checkout', '-q', '--detach', 'FETCH_HEAD'], 'checkout', CHECKOUT_MS);
    } finally {
      await rm(secrets, { recursive: true, force: true });
    }
  };
}

async function environment(source: Source, folder: string, { credentials }: GitOptions): Promise<Record<string, string>> {
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:ssh',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new',
  };
  if (source.credentialsSecretName === undefined) return env;
  const secret = await credentials(source.credentialsSecretName);
  if (secret === undefined) {
    throw new SourceError(`Cannot use Secret "${source.credentialsSecretName}": not found; create it in the namespace of the Run`);
  }
  if (secret['ssh-privatekey'] !== undefined) {
    const key = join(folder, 'key');
    await writeFile(key, secret['ssh-privatekey'], { mode: 0o600 });
    env['GIT_SSH_COMMAND'] += ` -i '${key}' -o IdentitiesOnly=yes`;
  }
  if (secret['password'] !== undefined) {
    // Never on a command line, where other processes see it.
    await writeFile(
      join(folder, 'answer'),
      `#!/bin/sh\ncase "$1" in U*) printf '%s' "$GIT_USER";; *) printf '%s' "$GIT_PASSWORD";; esac\n`,
      { mode: 0o700 },
    );
    Object.assign(env, { GIT_ASKPASS: join(folder, 'answer'), GIT_USER: secret['username'] ?? 'git', GIT_PASSWORD: secret['password'] });
  }
  return env;
}

function run(args: string[], cwd: string, env: Record<string, string>, what: string, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['-c', 'core.symlinks=true', '-c', 'protocol.file.allow=never', ...args], {
      cwd,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: ms,
      killSignal: 'SIGKILL',
      signal,
    });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      if (text.length < MOST_OUTPUT) text += chunk.toString();
    });
    child.once('error', (error) => {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      reject(signal.aborted ? error : new SourceError(`${what}: ${missing ? 'git is not installed here' : error.message}`));
    });
    child.once('close', (code, killed) => {
      if (code === 0) resolve();
      else reject(new SourceError(`${what}: ${killed ? `took longer than ${ms / 1000} s` : text.trim() || `exit status ${code}`}`));
    });
  });
}
