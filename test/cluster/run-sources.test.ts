import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gitSource } from '../../src/areas/runs/runtimed/git-source.ts';
import { GitServer } from '../support/git-server.ts';
import { nodeTools } from './node-tools.ts';

let server: GitServer;
let root: string;
let first: string;

beforeAll(async () => {
  await nodeTools('git');
  server = await GitServer.start();
  first = server.commit({ 'bin/check.sh': 'echo one' });
  server.tag('v1');
});
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tenantry-sources-'));
  server.password = undefined;
  server.hangs = false;
  return () => rmSync(root, { recursive: true, force: true });
});
afterAll(() => server?.stop());

/** A runtimed, as far as repositories go. */
function aRuntimed(mostBytes?: number) {
  const secrets: Record<string, Record<string, string>> = {
    open: { 'ca.crt': server.ca },
    login: { 'ca.crt': server.ca, username: 'me', password: 'right' },
    wrong: { 'ca.crt': server.ca, username: 'me', password: 'hunter2' },
  };
  const fetch = gitSource({ credentials: (name) => Promise.resolve(secrets[name]), folder: join(root, 'own'), mostBytes });
  let next = 0;
  return async (commitSHA?: string, credentialsSecretName?: string, signal = new AbortController().signal) => {
    const folder = join(root, `run-${next++}`);
    await fetch({ repoURL: server.url, commitSHA, credentialsSecretName: credentialsSecretName ?? 'open' }, folder, signal);
    return folder;
  };
}

const script = (folder: string) => readFileSync(join(folder, 'bin/check.sh'), 'utf8');

describe('the repository of a Run', () => {
  it.each([
    ['its newest state', () => undefined],
    ['a tag', () => 'v1'],
    ['a branch', () => 'main'],
    ['a commit', () => first],
  ])('is fetched: %s', async (_name, reference) => {
    const folder = await aRuntimed()(reference());
    expect(script(folder)).toBe('echo one');
    expect(execFileSync('git', ['-C', folder, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()).toBe(first);
    expect(execFileSync('git', ['-C', folder, 'remote', '-v'], { encoding: 'utf8' })).toContain(server.url);
  });

  it('is asked for a commit once, and for a branch every time', async () => {
    const fetch = aRuntimed();
    await fetch(first);
    const asked = server.requests;
    await Promise.all([fetch(first), fetch(first)]);
    expect(server.requests).toBe(asked);
    const second = server.commit({ 'bin/check.sh': 'echo two' });
    expect(script(await fetch('main'))).toBe('echo two');
    expect(server.requests).toBeGreaterThan(asked);
    expect(script(await fetch(first))).toBe('echo one');
    expect(script(await fetch(second))).toBe('echo two');
  });

  it('that wants a password is only for those who know it, fetched before or not', async () => {
    server.password = 'right';
    const fetch = aRuntimed();
    await expect(fetch(first)).rejects.toThrow(/^git clone: /);
    expect(script(await fetch(first, 'login'))).toBe('echo one');
    const refused = await fetch(first, 'wrong').catch((error: Error) => error.message);
    expect(refused).toMatch(/^git clone: .*Authentication failed/s);
    expect(refused).not.toContain('hunter2');
    await expect(fetch(first)).rejects.toThrow(/^git clone: /);
    await expect(fetch(first, 'missing')).rejects.toThrow('Cannot use Secret "missing": not found');
    // Keys do not stay, and nothing but the repositories does.
    expect(readdirSync(join(root, 'own'))).toEqual(['tenantry-git-cache']);
  });

  it('that is too large is refused before anything of it is written', async () => {
    const large = server.commit({ 'a.bin': Buffer.alloc(700_000, 1), 'b.bin': Buffer.alloc(700_000, 2) });
    const fetch = aRuntimed(1 << 20);
    await expect(fetch(large)).rejects.toThrow('git checkout: the files of the repository have more than 1 MiB');
    expect(existsSync(join(root, 'run-0'))).toBe(false);
    expect(script(await fetch(first))).toBe('echo one');
  });

  it('that does not answer keeps nobody who is cancelled, nor those who come later', async () => {
    const fetch = aRuntimed();
    server.hangs = true;
    const [holds, waits] = [new AbortController(), new AbortController()];
    const holding = fetch(first, 'open', holds.signal).catch(() => 'ended');
    const waiting = fetch(first, 'open', waits.signal).catch(() => 'ended');
    waits.abort();
    expect(await waiting).toBe('ended');
    const later = fetch(first);
    server.hangs = false;
    holds.abort();
    expect(await holding).toBe('ended');
    expect(script(await later)).toBe('echo one');
  });
});
