import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { binary } from './binaries.ts';

/** What kubectl said and how it ended. */
export interface Said {
  code: number | null;
  out: string;
  err: string;
}

/** A running `tenantry up`, and a kubectl that talks to it. */
export interface Workbench {
  engine: SpawnedEngine;
  folder: string;
  /** Types the words of a command line; a text in `stdin` is what `-f -` reads. */
  kubectl(words: string[], stdin?: string, env?: Record<string, string>): Promise<Said>;
  /** The same for a command that is expected to work; resolves to its output. */
  works(line: string, stdin?: string): Promise<string>;
  /** The same for a command that is expected to fail; resolves to its complaint. */
  fails(line: string, stdin?: string): Promise<string>;
  /** Writes a file into the folder of the workbench, executable if it is a script. */
  file(name: string, content: string): string;
  close(): Promise<void>;
}

/** `args` are more words for `tenantry up`. */
export async function openWorkbench(args: string[] = []): Promise<Workbench> {
  const path = await binary('kubectl');
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-kubectl-'));
  const data = join(folder, 'data');
  const engine = await spawnEngine(data, { args });
  const kubectl = (words: string[], stdin = '', env: Record<string, string> = {}): Promise<Said> =>
    new Promise((resolve, reject) => {
      const child = spawn(path, words, {
        cwd: folder,
        env: { ...process.env, KUBECONFIG: join(data, 'kubeconfig'), KUBECACHEDIR: join(folder, 'cache'), ...env },
      });
      const said: Said = { code: null, out: '', err: '' };
      child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...said, code }));
      child.stdin.end(stdin);
    });
  const end = async (line: string, stdin: string | undefined, isExpected: (code: number | null) => boolean): Promise<Said> => {
    const said = await kubectl(wordsOf(line), stdin);
    if (!isExpected(said.code)) throw new Error(`kubectl ${line}\nended with ${said.code}: ${said.err}${said.out}`);
    return said;
  };
  return {
    engine,
    folder,
    kubectl,
    works: async (line, stdin) => (await end(line, stdin, (code) => code === 0)).out,
    fails: async (line, stdin) => (await end(line, stdin, (code) => code !== 0)).err,
    file(name, content) {
      writeFileSync(join(folder, name), content);
      if (content.startsWith('#!')) chmodSync(join(folder, name), 0o755);
      return join(folder, name);
    },
    async close() {
      await engine.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Splits at spaces; 'single quotes' hold words together. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));
}
