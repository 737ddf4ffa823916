import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { isIP, type Server } from 'node:net';
import { join } from 'node:path';
import type { Client } from '../client/client.ts';
import { Node } from '../client/kinds.ts';
import { machineFacts, machineState, type MachineFacts } from '../engine/node/registration/machine-facts.ts';
import { newNode, type NodeDescription, type NodeHealth } from '../engine/node/registration/describe-node.ts';
import { NodeRegistrar } from '../engine/node/registration/node-registrar.ts';
import { NO_PRESSURE } from '../engine/node/registration/pressure.ts';
import type { KubeObject } from '../kube/object.ts';
import { Backoff } from '../lib/backoff.ts';
import { realClock, type Timer } from '../lib/clock.ts';
import type { Log, LogLevel } from '../lib/log.ts';
import { ensureNodeCertificates } from '../lib/pki/ensure-node-certificates.ts';
import type { Pki } from '../lib/pki/ensure-pki.ts';
import { kubeconfigText } from '../lib/pki/kubeconfig.ts';
import { replaceFile } from '../lib/pki/private-file.ts';
import { isRunning, localUrl, programOf, send, stopChild } from './supervised-child.ts';

export const NODE_MODES = ['auto', 'process', 'oci', 'none'] as const;
export type NodeMode = (typeof NODE_MODES)[number];

export interface NodeSettings {
  mode: Exclude<NodeMode, 'none'>;
  /** `shared`: Pods use the machine's network even where they could have one of their own. */
  network: 'auto' | 'shared';
  /** Absent: the one of before, or the hostname. */
  name?: string;
  /** Extended resources: `example.com/gpu` to an amount. */
  resources: Readonly<Record<string, string>>;
  /** Pods outlive a clean stop. */
  keepPods: boolean;
  hostPaths: readonly string[];
  nodePortAddress?: string;
  logLevel: LogLevel;
  logFormat: 'json' | 'pretty';
}

export interface SupervisorOptions {
  /** See nodeName. */
  name: string;
  data: string;
  /** Of the API server. */
  address: string;
  settings: NodeSettings;
  pki: Pki;
  /** In this process, as the node of that name. */
  client(name: string): Client;
  version: string;
  log: Log;
}

/** Serves what comes in at one more listening socket, until it is told to close it. */
export type Entrances = (entrance: Server) => () => void;

/** What the two processes say to each other. */
export type AgentMessage = { type: 'ready' } | { type: 'entrance' };
export type SupervisorMessage = { type: 'stop'; keepPods: boolean } | { type: 'entered' };

const RESTART = { initialMs: 200, maxMs: 30_000, jitter: 0.2 };
/** An agent that ran this long was well: its next failure is a first one. */
const WELL_MS = 60_000;
/** Longer than any Pod may take by default to end. */
const STOP_PATIENCE_MS = 45_000;

/**
 * The node of `up`. Until the first Pod comes it is only an object in the API, kept alive from here; then the agent is started as a process
 * of its own, which does all the rest, and is started again whenever it ends without being asked to.
 */
export class NodeSupervisor {
  readonly name: string;
  readonly mode: NodeSettings['mode'];
  #options: SupervisorOptions;
  #machine: MachineFacts = machineFacts();
  #client: Client;
  #url = '';
  #entrances: Entrances | undefined;
  #registrar: NodeRegistrar;
  #runtime: string | undefined;
  #agent: ChildProcess | undefined;
  #needed = false;
  #stopping = false;
  #backoff = new Backoff(RESTART);
  #restart: Timer | undefined;
  #launching: Promise<void> | undefined;
  #becomeReady!: () => void;
  readonly #ready = new Promise<void>((resolve) => (this.#becomeReady = resolve));

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.mode = options.settings.mode;
    this.name = options.name;
    const { log } = options;
    this.#client = options.client(this.name);
    this.#registrar = new NodeRegistrar({ client: this.#client, clock: realClock, log, describe: () => this.#describe() });
  }

  /** The node as it is registered first, ready for Pods. */
  async newNode(): Promise<KubeObject> {
    this.#runtime ??= `process://${this.#options.version}`;
    const { node, health } = await this.#describe();
    return { apiVersion: 'v1', kind: 'Node', ...newNode(node, health, new Date(realClock.now())) };
  }

  /**
   * Keeps the node registered. Starts the agent too when an earlier one left something behind.
   * @param url of the API server
   * @param entrances takes the socket at which Pods ask for the API server; returns what closes it
   */
  async start(url: string, entrances: Entrances): Promise<void> {
    this.#url = url;
    this.#entrances = entrances;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#registrar.start();
    // Volumes too: nobody else removes the folders of those that are deleted.
    const left = await Promise.all(['pods', 'shim', 'volumes'].map((entry) => readdir(join(this.#folder, entry)).catch(() => [])));
    if (left.some((entries) => entries.some((entry) => entry !== 'lock' && entry !== 'shim.log'))) this.need();
  }

  /** There is work: the agent has to run from now on. */
  need(): void {
    if (this.#needed || this.#stopping) return;
    this.#needed = true;
    this.#launch();
  }

  /** Calls for the agent. Resolves once the network of Pods is there. */
  whenReady(): Promise<void> {
    this.need();
    return this.#ready;
  }

  /** Ends the agent, and all Pods unless they are to be kept. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#registrar.stop();
    this.#restart?.cancel();
    await this.#launching;
    const { keepPods } = this.#options.settings;
    // One that was just about to be started again is needed once more, to end what an earlier one left.
    const agent =
      isRunning(this.#agent) || !this.#needed || keepPods ? this.#agent : await this.#prepare().then((args) => this.#spawn(args));
    if (!isRunning(agent)) return;
    const message: SupervisorMessage = { type: 'stop', keepPods };
    await stopChild(agent, message, STOP_PATIENCE_MS, () =>
      this.#options.log.error('the node agent does not end its Pods in time; what is left runs on, and the next start takes it over'),
    );
  }

  get #folder(): string {
    return join(this.#options.data, 'node');
  }

  /** Whom the API server can reach, its node can be reached by. */
  get #serverAddress(): string {
    const { address } = this.#options;
    if (address === '::1' || address.startsWith('127.')) return '127.0.0.1';
    return address === '0.0.0.0' || address === '::' || isIP(address) === 0 ? this.#machine.address : address;
  }

  async #describe(): Promise<{ node: NodeDescription; health: NodeHealth }> {
    const { version, settings } = this.#options;
    const { disk } = await machineState(this.#folder);
    this.#runtime ??= await this.#runtimeOfBefore();
    const node: NodeDescription = {
      name: this.name,
      machine: this.#machine,
      diskBytes: disk.totalBytes,
      volumeFolder: join(this.#folder, 'volumes'),
      serverAddress: this.#serverAddress,
      version,
      resources: settings.resources,
      runtime: this.#runtime,
    };
    return { node, health: { pressure: NO_PRESSURE } };
  }

  /** What runs containers is found out with the first Pod; until then it is what it was. */
  async #runtimeOfBefore(): Promise<string> {
    const known = await this.#client
      .resource(Node)
      .get(this.name)
      .catch(() => undefined);
    return known?.status?.nodeInfo?.containerRuntimeVersion ?? `process://${this.#options.version}`;
  }

  #launch(): void {
    this.#launching = this.#prepare()
      .then((args) => void (this.#stopping || this.#spawn(args)))
      .catch((error: unknown) => {
        this.#options.log.error('cannot start the node agent, will try again', { error });
        this.#launchLater();
      });
  }

  /** Its certificates, its kubeconfig and its flags. */
  async #prepare(): Promise<string[]> {
    const { data, pki, settings, address } = this.#options;
    const addresses = [this.#machine.address, this.#serverAddress];
    const certificates = await ensureNodeCertificates(join(data, 'pki'), {
      name: this.name,
      addresses,
      authority: pki.authority,
      clock: realClock,
    });
    const kubeconfig = join(this.#folder, 'kubeconfig');
    const server = localUrl(this.#url);
    const text = kubeconfigText({
      server,
      authorityPem: pki.authority.certificatePem,
      credentials: certificates.client,
      user: `system:node:${this.name}`,
    });
    await replaceFile(kubeconfig, text, 0o600);
    const args: Record<string, string | readonly string[] | undefined> = {
      name: this.name,
      data,
      server,
      mode: settings.mode,
      network: settings.network,
      'server-address': this.#serverAddress,
      listen: address === '::1' ? '127.0.0.1' : address,
      'log-level': settings.logLevel,
      'log-format': settings.logFormat,
      resource: Object.entries(settings.resources).map(([name, amount]) => `${name}=${amount}`),
      'allow-host-path': settings.hostPaths,
      'node-port-address': settings.nodePortAddress,
    };
    return Object.entries(args).flatMap(([name, value = []]) => [value].flat().map((each) => `--${name}=${each}`));
  }

  #spawn(args: string[]): ChildProcess {
    const { log } = this.#options;
    const agent = spawn(process.execPath, [...AGENT_FLAGS, programOf('the node agent', 'node.js'), ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Ctrl-C is for us: it must not reach the agent's helpers in the middle of their work.
      detached: true,
    });
    const startedAt = realClock.monotonic();
    this.#agent = agent;
    // From here on the agent tells how the node is; when it cannot, nobody should pretend.
    this.#registrar.stop();
    let closeEntrance: (() => void) | undefined;
    agent.on('message', (message: AgentMessage, handle) => {
      if (message.type === 'ready') this.#becomeReady();
      else if (handle !== undefined) {
        closeEntrance = this.#entrances!(handle as Server);
        const entered: SupervisorMessage = { type: 'entered' };
        send(agent, entered);
      }
    });
    // The next agent opens it anew.
    agent.once('exit', () => closeEntrance?.());
    agent.once('error', (error) => log.error('cannot start the node agent', { error }));
    agent.once('exit', (code, signal) => {
      if (this.#stopping) return;
      if (realClock.monotonic() - startedAt > WELL_MS) this.#backoff.reset();
      log.warn('the node agent ended, will be started again', { code, signal });
      this.#launchLater();
    });
    return agent;
  }

  #launchLater(): void {
    if (this.#stopping) return;
    this.#restart = realClock.setTimer(this.#backoff.next(), () => this.#launch());
  }
}

/** Small pieces of garbage, collected often: an agent is a process more on the user's machine. */
const AGENT_FLAGS = ['--max-semi-space-size=2'];
