import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { orAborted } from '../../../lib/abort.ts';
import { git, GitStopped, type GitCall } from './git-command.ts';

export interface CachedSource {
  url: string;
  /** A commit, a branch or a tag. */
  reference: string;
  /** What the repository is reached with: who knows something else does not find what this one fetched. */
  secret: Record<string, string> | undefined;
}

interface Repository {
  folder: string;
  isThere: boolean;
  /** Resolves when nobody is at it. */
  free: Promise<unknown>;
}

const CLONE_MS = 30_000;
export const MOST_REPOSITORIES = 16;
/** Of one repository. Larger ones are forgotten: it is a cache. */
const MOST_KIB = 512 << 10;
const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/**
 * Repositories that were fetched before, each with the last commits only. A commit that is here is not asked for again; a branch or a
 * tag is, and only what is new of it travels. In a folder that no Run can reach.
 */
export class GitCache {
  readonly #root: string;
  /** The one that was used last is the last. */
  readonly #repositories = new Map<string, Repository>();
  #opened: Promise<unknown> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Fetches a commit, and gives it to `use` as long as nobody else is at the repository. */
  async withCommit(
    source: CachedSource,
    call: Pick<GitCall, 'env' | 'signal'>,
    use: (repository: string, commit: string) => Promise<void>,
  ): Promise<void> {
    // What somebody who was killed has left may be locked.
    await (this.#opened ??= rm(this.#root, { recursive: true, force: true }));
    const key = keyOf(source);
    const repository = this.#repositories.get(key) ?? { folder: join(this.#root, key), isThere: false, free: Promise.resolve() };
    this.#repositories.delete(key);
    this.#repositories.set(key, repository);
    let begun = false;
    const turn = repository.free.then(async () => {
      call.signal.throwIfAborted();
      begun = true;
      try {
        await use(repository.folder, await fetchCommit(repository, source, call));
      } catch (error) {
        if (error instanceof GitStopped || call.signal.aborted) await remove(repository);
        throw error;
      }
    });
    repository.free = turn.catch(() => {}).then(() => this.#keepSmall(repository));
    this.#forgetOldest();
    await orAborted(turn, call.signal).catch(async (error: unknown) => {
      // Whoever cleans up behind us must not meet a git that still writes.
      if (begun) await turn.catch(() => {});
      throw error;
    });
  }

  #forgetOldest(): void {
    if (this.#repositories.size <= MOST_REPOSITORIES) return;
    const [[key, oldest]] = this.#repositories;
    this.#repositories.delete(key);
    // Who comes for it again meanwhile waits for that.
    const gone = oldest.free.then(() => remove(oldest)).catch(() => {});
    oldest.free = gone;
    this.#repositories.set(key, oldest);
    void gone.then(() => {
      if (oldest.free === gone) this.#repositories.delete(key);
    });
  }

  async #keepSmall(repository: Repository): Promise<void> {
    let text = '';
    const call = { folder: repository.folder, env: {}, what: 'clone', ms: CLONE_MS, signal: new AbortController().signal } as const;
    const output = (chunk: string) => void (text += chunk);
    await git(['count-objects', '-v'], { ...call, env: { PATH: process.env['PATH'] ?? '' }, output }).catch(() => {});
    const kib = [...text.matchAll(/^size(?:-pack)?: (\d+)$/gm)].reduce((sum, [, size]) => sum + Number(size), 0);
    if (kib > MOST_KIB) await remove(repository);
  }
}

async function remove(repository: Repository): Promise<void> {
  repository.isThere = false;
  await rm(repository.folder, { recursive: true, force: true });
}

/** @returns the commit that the reference is */
async function fetchCommit(
  repository: Repository,
  { url, reference }: CachedSource,
  { env, signal }: Pick<GitCall, 'env' | 'signal'>,
): Promise<string> {
  const { folder } = repository;
  const call = { folder, env, what: 'clone', ms: CLONE_MS, signal } as const;
  if (!repository.isThere) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await git(['init', '-q', '--bare', '.'], call);
    // For the copies that are taken from here, by commit.
    await git(['config', 'uploadpack.allowAnySHA1InWant', 'true'], call);
    repository.isThere = true;
  }
  if (COMMIT.test(reference) && (await has(reference, call))) return reference;
  await git(['fetch', '-q', '--depth=1', '--no-tags', '--', url, reference], call);
  let commit = '';
  await git(['rev-parse', '--verify', 'FETCH_HEAD^{commit}'], { ...call, output: (chunk) => void (commit += chunk) });
  return commit.trim();
}

function has(commit: string, call: GitCall): Promise<boolean> {
  return git(['cat-file', '-e', `${commit}^{commit}`], call).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitStopped || call.signal.aborted) throw error;
      return false;
    },
  );
}

function keyOf({ url, secret }: CachedSource): string {
  const entries = Object.entries(secret ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([url, entries]))
    .digest('hex');
}
