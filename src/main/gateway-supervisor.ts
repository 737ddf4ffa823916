import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GATEWAY_NAME, PLATFORM_NAMESPACE } from '../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { GATEWAY_PORT, gatewayService } from '../areas/plugins/gateway/gateway-service.ts';
import { GATEWAY_USER, gatewayRights } from '../areas/plugins/gateway/gateway-rights.ts';
import type { Client } from '../client/client.ts';
import { ConfigMap, EndpointSlice, Namespace, Service } from '../client/kinds.ts';
import { Backoff } from '../lib/backoff.ts';
import { realClock, type Timer } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { client as clientLeaf, ensureLeaf, type Pki } from '../lib/pki/ensure-pki.ts';
import { KeyFiles } from '../lib/pki/key-files.ts';
import { kubeconfigText } from '../lib/pki/kubeconfig.ts';
import { replaceFile } from '../lib/pki/private-file.ts';
import { installObjects } from './areas.ts';
import { isRunning, localUrl, programOf, send, stopChild } from './supervised-child.ts';

export interface GatewaySettings {
  /** Absent: the usual one, or a free one when that is taken. */
  port?: number;
  logLevel: string;
  logFormat: string;
}

export interface GatewaySupervisorOptions {
  data: string;
  /** Of the API server. */
  url: string;
  address: string;
  settings: GatewaySettings;
  pki: Pki;
  /** With all rights. */
  client: Client;
  /** Where Pods reach this machine. */
  podAddress(): Promise<string>;
  log: Log;
}

/** What the two processes say to each other. */
export type GatewayMessage = { type: 'ready'; port: number; metricsPort: number };
export type SupervisorMessage = { type: 'stop' } | { type: 'listen'; host: string; port: number };

const RESTART = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };
const STOP_PATIENCE_MS = 30_000;
const CERTIFICATE = 'plugin-gateway-client';
const FIELD_MANAGER = 'tenantry-gateway';

/** The plugin gateway of `up`: a process of its own, so that requests to plugins and the API server do not wait for each other. */
export class GatewaySupervisor {
  readonly #options: GatewaySupervisorOptions;
  readonly #backoff = new Backoff(RESTART);
  #process: ChildProcess | undefined;
  #restart: Timer | undefined;
  readonly #stopping = new AbortController();
  #port: number | undefined;

  constructor(options: GatewaySupervisorOptions) {
    this.#options = options;
    this.#port = options.settings.port;
  }

  start(): this {
    this.#launch();
    return this;
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #launch(): void {
    this.#start().catch((error: unknown) => {
      if (this.#isStopping) return;
      this.#options.log.error('cannot start the plugin gateway, will try again', { error });
      this.#launchLater();
    });
  }

  #launchLater(): void {
    if (!this.#isStopping) this.#restart = realClock.setTimer(this.#backoff.next(), () => this.#launch());
  }

  async #start(): Promise<void> {
    const { settings, address, log } = this.#options;
    const kubeconfig = await this.#kubeconfig();
    await whenThere(this.#options.client, PLATFORM_NAMESPACE, this.#stopping.signal);
    if (this.#isStopping) return;
    await installObjects(this.#options.client, gatewayRights());
    if (this.#isStopping) return;
    const args = {
      kubeconfig,
      host: address === '::1' ? '127.0.0.1' : address,
      port: this.#port ?? GATEWAY_PORT,
      'log-level': settings.logLevel,
      'log-format': settings.logFormat,
    };
    const flags = Object.entries(args).map(([name, value]) => `--${name}=${value}`);
    if (settings.port === undefined) flags.push('--free-port');
    const child = spawn(process.execPath, ['--max-semi-space-size=2', programOf('the plugin gateway', 'plugin-gateway.js'), ...flags], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    this.#process = child;
    child.on('message', (message: GatewayMessage) => {
      this.#backoff.reset();
      // Whoever knows the address keeps it when the process has to be started again.
      this.#port = message.port;
      this.#announce(child, message).catch((error: unknown) => log.warn('cannot announce the plugin gateway', { error }));
    });
    child.once('error', (error) => log.error('cannot start the plugin gateway', { error }));
    child.once('exit', (code, signal) => {
      if (this.#isStopping) return;
      log.warn('the plugin gateway ended, will be started again', { code, signal });
      this.#launchLater();
    });
  }

  /** A user of its own with the rights of a gateway: what faces callers does not hold the keys of the engine. */
  async #kubeconfig(): Promise<string> {
    const { data, url, pki } = this.#options;
    const files = new KeyFiles(join(data, 'pki'));
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${PLATFORM_NAMESPACE}`];
    const credentials = await ensureLeaf(files, CERTIFICATE, pki.authority, realClock.now(), clientLeaf(GATEWAY_USER, groups));
    await files.flush();
    await mkdir(join(data, 'gateway'), { recursive: true, mode: 0o700 });
    const path = join(data, 'gateway', 'kubeconfig');
    await replaceFile(
      path,
      kubeconfigText({ server: localUrl(url), authorityPem: pki.authority.certificatePem, credentials, user: 'plugin-gateway' }),
      0o600,
    );
    return path;
  }

  /** Users find it by a ConfigMap, Pods by a Service. */
  async #announce(child: ChildProcess, { port, metricsPort }: GatewayMessage): Promise<void> {
    const { client, address, podAddress } = this.#options;
    const host = address.includes(':') ? `[${address}]` : address;
    const data = { url: `http://${host}:${port}`, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
    const metadata = { name: GATEWAY_NAME, namespace: PLATFORM_NAMESPACE };
    const owner = { fieldManager: FIELD_MANAGER, force: true };
    await client.resource(ConfigMap, PLATFORM_NAMESPACE).apply({ metadata, data }, owner);
    const forPods = await podAddress();
    // Pods that share the machine's network have no Services: they use the address of everybody.
    if (forPods.startsWith('127.')) return;
    const { service, slice } = gatewayService(forPods);
    await client.resource(Service, PLATFORM_NAMESPACE).apply(service, owner);
    await client.resource(EndpointSlice, PLATFORM_NAMESPACE).apply(slice, owner);
    const listen: SupervisorMessage = { type: 'listen', host: forPods, port: GATEWAY_PORT };
    send(child, listen);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#restart?.cancel();
    const stop: SupervisorMessage = { type: 'stop' };
    if (isRunning(this.#process)) await stopChild(this.#process, stop, STOP_PATIENCE_MS);
  }
}

/** Whoever keeps the first keys of plugins makes it. */
async function whenThere(client: Client, namespace: string, signal: AbortSignal): Promise<void> {
  for await (const update of client.resource(Namespace).watch({ fieldSelector: `metadata.name=${namespace}`, signal })) {
    if ('object' in update && update.type !== 'DELETED') return;
  }
}
