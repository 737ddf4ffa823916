import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync, lstatSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { removeFolder } from './remove-folder.ts';
import { outputsOf, prepareSource } from './source.ts';

const root = mkdtempSync(join(tmpdir(), 'tenantry-source-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folders = { ours: root, theirs: '/workspace', artifacts: true };
const signal = new AbortController().signal;

function aRun(uid: string, source: object): Run {
  return { apiVersion: '', kind: 'Run', metadata: { uid }, spec: { runtime: 'bash', mode: { task: {} }, source } };
}
const prepare = (run: Run) => prepareSource(run, folders, () => Promise.resolve(), signal);

/** Somebody else's file, which nothing here may change. */
function victim(name: string): string {
  const path = join(root, name);
  writeFileSync(path, 'as it was');
  return path;
}

describe('prepareSource', () => {
  it('makes the folder with its script, and says where it is for the Runtime Server', async () => {
    expect(await prepare(aRun('u1', { inline: 'echo hi' }))).toEqual({
      workingDir: '/workspace/u1',
      outputs: '/workspace/u1/outputs',
      artifacts: '/workspace/u1/artifacts',
    });
    expect(readFileSync(join(root, 'u1/script'), 'utf8')).toBe('echo hi');
  });

  it('does not write through links that an attempt before left', async () => {
    const kept = victim('kept');
    mkdirSync(join(root, 'u2'));
    for (const name of ['script', 'outputs', 'artifacts']) symlinkSync(kept, join(root, 'u2', name));
    await prepare(aRun('u2', { inline: 'new' }));
    expect(readFileSync(kept, 'utf8')).toBe('as it was');
    expect(readFileSync(join(root, 'u2/script'), 'utf8')).toBe('new');
    expect(lstatSync(join(root, 'u2/artifacts')).isDirectory()).toBe(true);
    expect(existsSync(join(root, 'u2/outputs'))).toBe(false);
  });

  it('does not work in a folder that a link leads to', async () => {
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'u3'));
    await prepare(aRun('u3', { inline: 'new' }));
    expect(existsSync(join(root, 'elsewhere/script'))).toBe(false);
    expect(lstatSync(join(root, 'u3')).isDirectory()).toBe(true);
  });

  it('a script that became a folder is replaced', async () => {
    mkdirSync(join(root, 'u4/script/deep'), { recursive: true });
    await prepare(aRun('u4', { inline: 'new' }));
    expect(readFileSync(join(root, 'u4/script'), 'utf8')).toBe('new');
  });

  it('outputs of a repository are in it', () => {
    expect(outputsOf(aRun('u', { repoURL: 'https://x' }))).toEqual(['u', 'repo', 'outputs']);
    expect(outputsOf(aRun('u', { inline: '' }))).toEqual(['u', 'outputs']);
  });
});

describe('removeFolder', () => {
  it('removes links, not what they lead to', async () => {
    const kept = victim('kept-too');
    mkdirSync(join(root, 'gone'));
    symlinkSync(kept, join(root, 'gone/file'));
    symlinkSync(root, join(root, 'gone/folder'));
    await removeFolder(join(root, 'gone'));
    expect(existsSync(join(root, 'gone'))).toBe(false);
    expect(readFileSync(kept, 'utf8')).toBe('as it was');
    symlinkSync(root, join(root, 'link'));
    await removeFolder(join(root, 'link'));
    expect(existsSync(kept)).toBe(true);
    expect(existsSync(join(root, 'link'))).toBe(false);
  });

  it('removes what is closed, and what is deeper than a path can be long', async () => {
    const folder = join(root, 'deep');
    mkdirSync(join(folder, 'closed/inside'), { recursive: true, mode: 0o700 });
    mkdirSync(folder, { recursive: true });
    const before = process.cwd();
    process.chdir(folder);
    const name = 'x'.repeat(200);
    for (let depth = 0; depth < 40; depth++) {
      mkdirSync(name);
      process.chdir(name);
    }
    process.chdir(before);
    await removeFolder(folder);
    expect(existsSync(folder)).toBe(false);
  });
});
