import { spawn, type ChildProcess } from 'node:child_process';
import type { ServiceListener, TenantServices } from '../areas/clusters/access/services/tenant-services.ts';
import { Backoff } from '../lib/backoff.ts';
import { realClock, type Timer } from '../lib/clock.ts';
import { errorText, type Log } from '../lib/log.ts';
import { isRunning, programOf, send } from './supervised-child.ts';

/** Those that everybody expects: a resolver is never told a port. */
export const SERVICE_PORTS = { names: 53, images: 5000 } as const;

export interface ServeMessage {
  type: 'serve';
  addresses: string[];
}

export interface ServedMessage {
  type: 'served';
  /** Addresses, and why not. */
  failed: [string, string][];
}

const RESTART = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };

/** Names and images for workers, in a process that is there as long as there are networks with clusters in them. */
export class TenantServicesSupervisor implements TenantServices {
  readonly listeners: readonly ServiceListener[] = [
    { name: 'names', protocol: 'udp', port: SERVICE_PORTS.names },
    { name: 'names-tcp', protocol: 'tcp', port: SERVICE_PORTS.names },
    { name: 'images', protocol: 'tcp', port: SERVICE_PORTS.images },
  ];
  readonly #data: string;
  readonly #log: Log;
  readonly #backoff = new Backoff(RESTART);
  #child: ChildProcess | undefined;
  #timer: Timer | undefined;
  #addresses: string[] = [];
  #failed: ReadonlyMap<string, string> = new Map();
  #told: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor({ data, log }: { data: string; log: Log }) {
    this.#data = data;
    this.#log = log;
  }

  async serve(addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const wanted = [...new Set(addresses)].sort();
    if (wanted.length === 0) {
      this.#addresses = [];
      await this.#end();
      return new Map();
    }
    const isSame = isRunning(this.#child) && wanted.join() === this.#addresses.join() && this.#failed.size === 0;
    if (!isSame && !this.#stopped) {
      this.#addresses = wanted;
      try {
        this.#tell();
      } catch (error) {
        return new Map(wanted.map((address) => [address, errorText(error)]));
      }
    }
    await this.#told;
    return this.#failed;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#timer?.cancel();
    const child = this.#child;
    if (!isRunning(child)) return;
    const ended = new Promise((resolve) => void child.once('exit', resolve));
    if (child.connected) child.disconnect();
    else child.kill();
    await ended;
  }

  #tell(): void {
    const child = isRunning(this.#child) ? this.#child : this.#start();
    this.#told = new Promise((resolve) => {
      const done = (): void => {
        child.off('message', read).off('exit', done);
        resolve();
      };
      const read = ({ failed }: ServedMessage): void => {
        this.#failed = new Map(failed);
        this.#backoff.reset();
        done();
      };
      child.on('message', read).once('exit', done);
    });
    send(child, { type: 'serve', addresses: this.#addresses } satisfies ServeMessage);
  }

  #start(): ChildProcess {
    const program = programOf('names and images for workers', 'tenant-services.js');
    const child = spawn(process.execPath, [program, '--data', this.#data], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child = child;
    child.once('error', (error) => this.#log.warn('names and images for workers cannot be started', { error: String(error) }));
    child.once('exit', (code, signal) => {
      this.#child = undefined;
      if (this.#stopped || this.#addresses.length === 0) return;
      this.#log.warn('names and images for workers ended, and are started again', { code, signal });
      this.#timer = realClock.setTimer(this.#backoff.next(), () => this.#tell());
    });
    return child;
  }
}
