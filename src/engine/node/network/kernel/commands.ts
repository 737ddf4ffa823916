import { spawn } from 'node:child_process';
import { inNamespace } from './namespaces.ts';

export interface CommandOptions {
  /** Path of the network namespace to run in; absent: this process's own. */
  namespace?: string;
  input?: string;
}

/** A tool of the system said no. `stderr` is what it said. */
export class CommandError extends Error {
  readonly stderr: string;

  constructor(command: string, status: string, stderr: string) {
    super(`Cannot run "${command}": ${status}: ${stderr.trim().slice(0, 2000)}`);
    this.stderr = stderr;
  }
}

/** `ip` and `nft` live where the PATH of an ordinary user does not look. */
export const ENVIRONMENT = { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`, LC_ALL: 'C' };

/** Runs a tool inside a namespace without a wrapper such as `ip netns exec`, which costs more than most of what is run. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = inNamespace(options.namespace, () => spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT }));
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(output).toString('utf8'));
      else reject(new CommandError([command, ...args].join(' '), signal ?? `status ${code}`, Buffer.concat(errors).toString('utf8')));
    });
    // A tool that ends before it has read everything says why on stderr.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** Many `ip` commands in one process; stops at the first that fails. */
export function runIpBatch(commands: readonly string[], namespace: string | undefined): Promise<string> {
  return runCommand('ip', ['-batch', '-'], { namespace, input: `${commands.join('\n')}\n` });
}

export function runNft(text: string, namespace: string | undefined): Promise<string> {
  return runCommand('nft', ['-f', '-'], { namespace, input: text });
}
