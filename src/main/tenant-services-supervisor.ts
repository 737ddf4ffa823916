import { spawn, type ChildProcess } from 'node:child_process';
import type { ServiceListener, TenantServices } from '../areas/clusters/access/services/tenant-services.ts';
import { forTenants } from '../areas/clusters/access/services/pull-through.ts';
import { Backoff } from '../lib/backoff.ts';
import { realClock, type Clock, type Timer } from '../lib/clock.ts';
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

export interface TenantServicesOptions {
  data: string;
  log: Log;
  clock?: Clock;
  /** Starts the process: the product's own, unless told otherwise. */
  start?: (data: string) => Promise<StartedServices>;
}

export interface StartedServices {
  child: ChildProcess;
  /** What it is told of registries. */
  registries: RegistryConfig;
}

/** Names and images for workers, in a process that is there as long as there are networks with clusters in them. */
export class TenantServicesSupervisor implements TenantServices {
  readonly listeners: readonly ServiceListener[] = [
    { name: 'names', protocol: 'udp', port: SERVICE_PORTS.names },
    { name: 'names-tcp', protocol: 'tcp', port: SERVICE_PORTS.names },
    { name: 'images', protocol: 'tcp', port: SERVICE_PORTS.images },
  ];
  readonly #data: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #startProcess: (data: string) => Promise<StartedServices>;
  readonly #backoff = new Backoff(RESTART);
  #child: ChildProcess | undefined;
  #registries: RegistryConfig = { registries: {} };
  #timer: Timer | undefined;
  #look: Timer | undefined;
  #addresses: string[] = [];
  #failed: ReadonlyMap<string, string> = new Map();
  #told: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor({ data, log, clock = realClock, start = startServices }: TenantServicesOptions) {
    this.#data = data;
    this.#log = log;
    this.#clock = clock;
    this.#startProcess = start;
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
    this.#timer = undefined;
    const patience = this.#clock.setTimer(END_MS, () => void this.#child?.kill('SIGKILL'));
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
        if (this.#isWanted) this.#log.warn('names and images for workers are not served, will try again', { error: errorText(error) });
        this.#tellLater();
      });
  }

  /** What ends is started again, and so is what could not be: nobody else comes back to it before networks change. */
  #tellLater(): void {
    if (!this.#isWanted || this.#timer !== undefined) return;
    this.#timer = this.#clock.setTimer(this.#backoff.next(), () => {
      this.#timer = undefined;
      this.#tell();
    });
  }

  get #isWanted(): boolean {
    return !this.#stopped && this.#addresses.length > 0;
  }

  async #ask(): Promise<void> {
    if (!this.#isWanted) return;
    const child = isRunning(this.#child) ? this.#child : await this.#start();
    await new Promise<void>((resolve, reject) => {
      const done = (): void => void child.off('message', read).off('exit', ended).off('error', refused);
      const read = ({ failed }: ServedMessage): void => {
        done();
        this.#failed = new Map(failed);
        this.#backoff.reset();
        resolve();
      };
      const refused = (error: Error): void => {
        done();
        reject(error);
      };
      const ended = (): void => refused(new Error('Cannot serve names and images to workers: the process ended before it answered'));
      child.on('message', read).once('exit', ended).once('error', refused);
      send(child, { type: 'serve', addresses: this.#addresses, registries: this.#registries } satisfies ServeMessage);
    });
  }

  async #start(): Promise<ChildProcess> {
    const { child, registries } = await this.#startProcess(this.#data);
    this.#child = child;
    this.#registries = registries;
    this.#look ??= this.#lookLater();
    child.on('error', (error) => {
      this.#log.warn('names and images for workers cannot be started or told', { error: String(error) });
      if (!isRunning(child)) this.#forget();
    });
    child.once('exit', (code, signal) => {
      this.#forget();
      if (!this.#isWanted) return;
      this.#log.warn('names and images for workers ended, and are started again', { code, signal });
      this.#tellLater();
    });
    return child;
  }

  #forget(): void {
    this.#child = undefined;
    this.#look?.cancel();
    this.#look = undefined;
  }

  #lookLater(): Timer {
    return this.#clock.setTimer(LOOK_MS, () => {
      copyNameSettings(this.#data).catch((error: unknown) =>
        this.#log.warn('workers may ask for names where nobody answers any more', { error: errorText(error) }),
      );
      this.#look = this.#lookLater();
    });
  }
}

async function startServices(data: string): Promise<StartedServices> {
  const program = programOf('names and images for workers', 'tenant-services.js');
  // It gets no file of the operator's: what is in there besides is none of its business.
  const registries = forTenants(await readRegistries(registriesPath(data)));
  const { command, env } = await servicesCommand(data, program);
  // In a session of its own: in ours it could type into the operator's terminal.
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env, detached: true });
  return { child, registries };
}
