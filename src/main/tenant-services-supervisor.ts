import { spawn, type ChildProcess } from 'node:child_process';
import type { ServiceListener, TenantServices } from '../areas/clusters/access/services/tenant-services.ts';
import { forTenants } from '../areas/clusters/access/services/pull-through.ts';
import { Backoff } from '../lib/backoff.ts';
import { realClock, type Timer } from '../lib/clock.ts';
import { errorText, type Log } from '../lib/log.ts';
import type { RegistryConfig } from '../lib/oci/registry-config.ts';
import { readRegistries, registriesPath } from './registries-file.ts';
import { isRunning, programOf, send } from './supervised-child.ts';
import { copyNameSettings, servicesCommand } from './tenant-services-enclosure.ts';
import { SERVICE_PORTS, type ServedMessage, type ServeMessage } from './tenant-services-messages.ts';

/** How old what it knows of the machine's resolvers may be: nobody tells when they change. */
const LOOK_MS = 30_000;
/** It speaks with strangers: one that does not end is not waited for. */
const END_MS = 10_000;
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
  #registries: RegistryConfig = { registries: {} };
  #timer: Timer | undefined;
  #look: Timer | undefined;
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
      this.#tell();
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
    const patience = realClock.setTimer(END_MS, () => void this.#child?.kill('SIGKILL'));
    patience.hold?.();
    try {
      await this.#told;
      const child = this.#child;
      if (!isRunning(child)) return;
      const ended = new Promise((resolve) => void child.once('exit', resolve));
      if (child.connected) child.disconnect();
      else child.kill();
      await ended;
    } finally {
      patience.cancel();
    }
  }

  /** One after the other: each is answered for what there was to serve when its turn came. */
  #tell(): void {
    this.#told = this.#told
      .then(() => this.#ask())
      .catch((error: unknown) => {
        this.#failed = new Map(this.#addresses.map((address) => [address, errorText(error)]));
      });
  }

  async #ask(): Promise<void> {
    if (this.#stopped || this.#addresses.length === 0) return;
    const child = isRunning(this.#child) ? this.#child : await this.#start();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        child.off('message', read).off('exit', done).off('error', done);
        resolve();
      };
      const read = ({ failed }: ServedMessage): void => {
        this.#failed = new Map(failed);
        this.#backoff.reset();
        done();
      };
      child.on('message', read).once('exit', done).once('error', done);
      send(child, { type: 'serve', addresses: this.#addresses, registries: this.#registries } satisfies ServeMessage);
    });
  }

  async #start(): Promise<ChildProcess> {
    const program = programOf('names and images for workers', 'tenant-services.js');
    // It gets no file of the operator's: what is in there besides is none of its business.
    this.#registries = forTenants(await readRegistries(registriesPath(this.#data)));
    const { command, env } = await servicesCommand(this.#data, program);
    // In a session of its own: in ours it could type into the operator's terminal.
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env, detached: true });
    this.#child = child;
    this.#look ??= this.#lookLater();
    child.once('error', (error) => this.#log.warn('names and images for workers cannot be started', { error: String(error) }));
    child.once('exit', (code, signal) => {
      this.#child = undefined;
      this.#look?.cancel();
      this.#look = undefined;
      if (this.#stopped || this.#addresses.length === 0) return;
      this.#log.warn('names and images for workers ended, and are started again', { code, signal });
      this.#timer = realClock.setTimer(this.#backoff.next(), () => this.#tell());
    });
    return child;
  }

  #lookLater(): Timer {
    return realClock.setTimer(LOOK_MS, () => {
      copyNameSettings(this.#data).catch((error: unknown) =>
        this.#log.warn('workers may ask for names where nobody answers any more', { error: errorText(error) }),
      );
      this.#look = this.#lookLater();
    });
  }
}
