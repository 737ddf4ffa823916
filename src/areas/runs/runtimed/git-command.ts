import { spawn } from 'node:child_process';
import { SourceError } from './source.ts';

const MOST_OUTPUT = 64 << 10;
const ALWAYS = ['-c', 'core.symlinks=true', '-c', 'gc.auto=0', '-c', 'advice.detachedHead=false'];

export interface GitCall {
  folder: string;
  env: Record<string, string>;
  /** What fails is called after it: `git clone: ...`. */
  what: 'clone' | 'checkout';
  ms: number;
  signal: AbortSignal;
  /** Given what it prints, piece by piece. @returns why that is too much */
  output?: (chunk: string) => string | undefined;
}

/** Git was stopped in the middle of its work, and may have left locks behind. */
export class GitStopped extends SourceError {}

/** Runs git with nothing of the configuration of the machine. */
export function git(args: string[], { folder, env, what, ms, signal, output }: GitCall): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...ALWAYS, ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', output === undefined ? 'ignore' : 'pipe', 'pipe'],
      timeout: ms,
      killSignal: 'SIGKILL',
      signal,
    });
    let [text, refusal] = ['', undefined as string | undefined];
    child.stderr!.on('data', (chunk: Buffer) => {
      if (text.length < MOST_OUTPUT) text += chunk.toString();
    });
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      refusal ??= output!(chunk);
      if (refusal !== undefined) child.kill('SIGKILL');
    });
    child.once('error', (error) => {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      reject(signal.aborted ? error : new SourceError(`git ${what}: ${missing ? 'git is not installed here' : error.message}`));
    });
    child.once('close', (code, killed) => {
      if (refusal !== undefined) reject(new SourceError(`git ${what}: ${refusal}`));
      else if (code === 0) resolve();
      else if (killed) reject(new GitStopped(`git ${what}: took longer than ${ms / 1000} s`));
      else reject(new SourceError(`git ${what}: ${text.trim() || `exit status ${code}`}`));
    });
  });
}
