import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTarget, type ApiTarget } from './api-target.ts';

export interface SpawnedEngine {
  target: ApiTarget;
  pid: number;
  /** kill -9, and wait until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM (or another signal), and wait; resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `tenantry up` as a process of its own, as a user starts it. */
export async function spawnEngine(data: string, options: { env?: Record<string, string>; args?: string[] } = {}): Promise<SpawnedEngine> {
  const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0', ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  const url = await ready(child);
  const pem = (name: string) => readFileSync(join(data, 'pki', name), 'utf8');
  const target = connectTarget({
    name: 'tenantry up',
    url,
    kubeconfig: join(data, 'kubeconfig'),
    ca: pem('ca.crt'),
    certificate: { cert: pem('admin.crt'), key: pem('admin.key') },
    close: () => Promise.resolve(),
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => void child.once('exit', resolve));
      child.kill(signal);
      await exited;
    }
    // Connections stay open until here: a server has to stop with clients on it.
    await target.close();
    return child.exitCode;
  };
  return {
    target,
    pid: child.pid!,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: (signal = 'SIGTERM') => end(signal),
  };
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /ready at (https:\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('exit', (code, signal) => reject(new Error(`tenantry ended with ${code ?? signal} before it was ready: ${output}`)));
  });
}
