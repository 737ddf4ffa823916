import { spawn, type ChildProcess } from 'node:child_process';
import { vi } from 'vitest';
import type { ControlPlane } from './control-plane.ts';

export interface ProductProcess {
  child: ChildProcess;
  /** All that it printed so far. */
  text: string;
}

/** Programs of the product beside a Kubernetes, each a process of its own. */
export class ProductProcesses {
  readonly #plane: ControlPlane;
  readonly #processes: ProductProcess[] = [];

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  start(...args: string[]): ProductProcess {
    const flags = ['--kubeconfig', this.#plane.kubeconfig, '--bind-address', '127.0.0.1:0'];
    const child = spawn(process.execPath, ['bin/tenantry', ...args, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    const started = { child, text: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (started.text += chunk.toString()));
    this.#processes.push(started);
    return started;
  }

  /** The port at which a process says that it answers. */
  async port(process: ProductProcess): Promise<number> {
    const found = () => /port (\d+)/.exec(process.text)?.[1];
    return Number(await vi.waitUntil(found, { timeout: 60_000, interval: 100 }));
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#processes.map(async ({ child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
      }),
    );
  }
}
