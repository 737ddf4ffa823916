import { spawn } from 'node:child_process';

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

/** Runs a tool to its end and gives what it wrote. The process is started before this returns. */
export function runCommand(
  command: string,
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...ENVIRONMENT, ...env } });
  return new Promise((resolve, reject) => {
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
    child.stdin.end(input);
  });
}
