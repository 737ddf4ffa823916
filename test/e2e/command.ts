import { spawn } from 'node:child_process';

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Types a command and waits for its end; one that takes longer than `timeout` milliseconds is killed. */
export function type(command: string, args: string[], env: Record<string, string> = {}, timeout?: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      timeout,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

export function tenantry(...args: string[]): Promise<Outcome> {
  return type(process.execPath, ['bin/tenantry', ...args]);
}
