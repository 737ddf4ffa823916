import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Child, ChildOptions } from './child.ts';

/** Node's own way, which holds the event loop until the new process has replaced the copy of this one. */
export function startNodeChild(argv: string[], { cwd, env, listens, files = [] }: ChildOptions): Child {
  const child = spawn(argv[0], argv.slice(1), {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', listens ? 'pipe' : 'ignore', ...files],
  });
  for (const file of files) closeSync(file);
  const input = child.stdio[3] as Writable | null | undefined;
  input?.on('error', () => {});
  const { stdout, stderr } = child as { stdout: NonNullable<typeof child.stdout>; stderr: NonNullable<typeof child.stderr> };
  const started = Promise.resolve(child.pid !== undefined);
  const killGroup = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  return Object.assign(child, { stdout, stderr, started, killGroup, tell: (message: string) => void input?.end(message) });
}
