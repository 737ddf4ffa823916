import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { GitCache } from './git-cache.ts';
import { git, type GitCall } from './git-command.ts';
import { SourceError, type FetchRepository } from './source.ts';

const CHECKOUT_MS = 15_000;
/** Of all files together, as the original has it. */
const MOST_BYTES = 100 << 20;
/** Not the helpers that git can be told to run by a URL: `ext::`, `file:`, `fd::`. */
const ALLOWED_URL = /^(https:\/\/|ssh:\/\/|git@[A-Za-z0-9][A-Za-z0-9.-]*:)/;
const REFERENCE = /^[A-Za-z0-9][A-Za-z0-9._/-]*$/;

type Source = NonNullable<Run['spec']['source']>;

export interface GitOptions {
  /** The data of the Secret that a Run names for its repository. */
  credentials(name: string): Promise<Record<string, string> | undefined>;
  /** A folder that no Run can reach: for keys, and for what was fetched before. */
  folder: string;
  mostBytes?: number;
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
  const cache = new GitCache(join(options.folder, 'tenantry-git-cache'));
  return async (source, folder, signal) => {
    const refused = refusedSource(source);
    if (refused !== undefined) throw new SourceError(refused);
    const secret = await secretOf(source, options);
    await mkdir(options.folder, { recursive: true });
    const keys = await mkdtemp(join(options.folder, 'tenantry-git-'));
    try {
      const env = await environment(secret, keys);
      const wanted = { url: source.repoURL!, reference: source.commitSHA ?? 'HEAD', secret };
      await cache.withCommit(wanted, { env, signal }, async (repository, commit) => {
        await checkSize(repository, commit, options.mostBytes ?? MOST_BYTES, { env, signal });
        await rm(folder, { recursive: true, force: true });
        await mkdir(folder, { recursive: true, mode: 0o777 });
        await copy(repository, commit, folder, wanted.url, { env, signal });
      });
    } finally {
      await rm(keys, { recursive: true, force: true });
    }
  };
}

/** A repository of its own, which knows nothing of ours but what is in the commit. */
async function copy(repository: string, commit: string, folder: string, url: string, { env, signal }: Pick<GitCall, 'env' | 'signal'>) {
  // The one place where a path is a repository: it is ours.
  const call = { folder, env: { ...env, GIT_ALLOW_PROTOCOL: 'file' }, what: 'checkout', ms: CHECKOUT_MS, signal } as const;
  await git(['init', '-q', '.'], call);
  await git(['fetch', '-q', '--depth=1', '--', repository, commit], call);
  await git(['remote', 'add', 'origin', '--', url], call);
  await git(['checkout', '-q', '--detach', 'FETCH_HEAD'], call);
}

/** Before anything of it is written. */
async function checkSize(folder: string, commit: string, most: number, { env, signal }: Pick<GitCall, 'env' | 'signal'>): Promise<void> {
  let [bytes, rest] = [0, ''];
  const output = (chunk: string): string | undefined => {
    const lines = (rest + chunk).split('\0');
    rest = lines.pop()!;
    for (const line of lines) bytes += Number(/^\d+ blob [0-9a-f]+ +(\d+)\t/.exec(line)?.[1] ?? 0);
    return bytes > most ? `the files of the repository have more than ${most >> 20} MiB` : undefined;
  };
  await git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit], { folder, env, what: 'checkout', ms: CHECKOUT_MS, signal, output });
}

async function secretOf({ credentialsSecretName: name }: Source, { credentials }: GitOptions): Promise<Record<string, string> | undefined> {
  if (name === undefined) return undefined;
  const secret = await credentials(name);
  if (secret === undefined) throw new SourceError(`Cannot use Secret "${name}": not found; create it in the namespace of the Run`);
  return secret;
}

async function environment(secret: Record<string, string> | undefined, folder: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'https:ssh',
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  };
  const file = async (name: string, text: string, mode = 0o600): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode });
    return path;
  };
  const hosts = secret?.['known_hosts'];
  if (hosts === undefined) env['GIT_SSH_COMMAND'] += ' -o StrictHostKeyChecking=accept-new';
  else env['GIT_SSH_COMMAND'] += ` -o StrictHostKeyChecking=yes -o UserKnownHostsFile='${await file('known_hosts', hosts)}'`;
  if (secret?.['ca.crt'] !== undefined) env['GIT_SSL_CAINFO'] = await file('ca.crt', secret['ca.crt']);
  if (secret?.['ssh-privatekey'] !== undefined) {
    env['GIT_SSH_COMMAND'] += ` -i '${await file('key', secret['ssh-privatekey'])}' -o IdentitiesOnly=yes`;
  }
  if (secret?.['password'] !== undefined) {
    // Never on a command line, where other processes see it.
    const answer = `#!/bin/sh\ncase "$1" in U*) printf '%s' "$GIT_USER";; *) printf '%s' "$GIT_PASSWORD";; esac\n`;
    const helper = await file('answer', answer, 0o700);
    Object.assign(env, { GIT_ASKPASS: helper, GIT_USER: secret['username'] ?? 'git', GIT_PASSWORD: secret['password'] });
  }
  return env;
}
