import { mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join as joinPath } from 'node:path';
import { createClient, type Client } from '../client/client.ts';
import { tokenCredentials } from '../client/config/credentials.ts';
import { createHttpTransport } from '../client/http/http-transport.ts';
import { NodeIdentity } from '../engine/node/join/node-identity.ts';
import { NodeTrust } from '../engine/node/join/node-trust.ts';
import { machineFacts } from '../engine/node/registration/machine-facts.ts';
import { isDns1123Subdomain } from '../kube/names.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, LOG_LEVELS, type Log } from '../lib/log.ts';
import { outliveReader } from '../lib/outlive-reader.ts';
import { nodeName } from './node-name.ts';
import { nodeClient, runNode, type NodeOptions, type RunningNode } from './run-node.ts';
import { productVersion } from './product-version.ts';
import type { TunnelAgentOptions } from '../lib/tunnel/tunnel-agent.ts';
import { reportFailure } from './report-failure.ts';

/** What the file of `--join` may say, for who makes machines; flags come before it. */
interface JoinFile {
  server?: string;
  authorityPem?: string;
  token?: string;
  tunnel?: { address: string; port: number };
  name?: string;
  address?: string;
  /** Further flags, by their names. */
  settings?: Record<string, string>;
}

export interface JoinOptions {
  data: string;
  server?: string;
  /** A file. */
  ca?: string;
  token?: string;
  name?: string;
  address?: string;
  listen?: string;
  /** address:port */
  tunnel?: string;
  join?: string;
  node?: string;
  nodeNetwork?: string;
  serviceRange?: string;
  podRange?: string;
  nodePortAddress?: string;
  /** address:port */
  imageMirror?: string;
  keepPods?: boolean;
  logLevel?: string;
  logFormat?: string;
}

interface Settings extends Omit<NodeOptions, 'client' | 'serving' | 'authorities' | 'log'> {
  authorityPem: string;
  token?: string;
  tunnel?: { address: string; port: number };
  address: string;
}

/** `tenantry join`: makes this machine a worker of a cluster, and runs until it is told to stop. */
export async function join(options: JoinOptions): Promise<void> {
  const level = LOG_LEVELS.find((candidate) => candidate === (options.logLevel ?? 'warn')) ?? 'warn';
  const log = createLog({ level, format: options.logFormat === 'json' ? 'json' : 'pretty' }).with({ process: 'node' });
  await mkdir(joinPath(options.data, 'pki'), { recursive: true, mode: 0o700 });
  const settings = await settingsOf(options, log);
  const { name, server, tunnel } = settings;
  const directory = joinPath(options.data, 'pki');
  const trust = await NodeTrust.open({
    path: joinPath(directory, 'authorities.json'),
    given: settings.authorityPem,
    client: () => client,
    clock: realClock,
    log,
  });
  const authorities = () => trust.pem;
  const identity = new NodeIdentity({
    directory,
    name,
    addresses: [settings.address],
    authorities,
    bootstrapClient: settings.token === undefined ? undefined : () => tokenClient(settings, settings.token!),
    nodeClient: () => client,
    clock: realClock,
    random: Math.random,
    log,
  });
  const client = nodeClient({ ...settings, authorities, client: () => identity.client() });
  const serving = async () => {
    const { certificatePem: certificate, keyPem: key } = await identity.serving();
    return { certificate, key };
  };
  // The rest of the machine is looked at while the certificates are on their way.
  // Connections and timers do not hold the process.
  const alive = setInterval(() => {}, 2 ** 30);
  const running = runNode({ ...settings, authorities, client: () => identity.client(), serving, log });
  const [node] = await Promise.all([running, identity.client(), identity.serving()]).catch((error: unknown) => {
    reportFailure('tenantry', error);
    // What was begun meanwhile would keep it alive.
    process.exit(1);
  });
  identity.onServing(({ certificatePem: certificate, keyPem: key }) => node.renewServing({ certificate, key }));
  trust.onChange(() => {
    void serving().then((pair) => node.renewServing(pair));
    void identity.authoritiesChanged();
  });
  trust.start();
  const tls = async () => ({ ca: trust.pem, ...(await identity.client()) });
  const tunnelled = tunnel && (await startTunnel(settings, tunnel, node, tls, log));
  outliveReader(process.stdout);
  process.stdout.write(`node ${name} has joined ${server.origin}\n`);
  await ended(async () => {
    clearInterval(alive);
    tunnelled?.stop();
    trust.stop();
    identity.stop();
    await client.close();
    return node.stop({ keepPods: options.keepPods === true });
  });
}

async function startTunnel(
  settings: Settings,
  server: { address: string; port: number },
  node: RunningNode,
  tls: TunnelAgentOptions['tls'],
  log: Log,
) {
  const { TunnelAgent } = await import('../lib/tunnel/tunnel-agent.ts');
  const { name, address, listen } = settings;
  const host = address.includes(':') ? `[${address}]` : address;
  const agent = new TunnelAgent({
    server,
    tls,
    name,
    addresses: [address],
    // Nothing else of the worker's network is anybody's business.
    reach: (asked) => (asked === `${host}:${node.port}` ? { host: listen, port: node.port } : undefined),
    clock: realClock,
    random: Math.random,
    log,
  });
  agent.start();
  return agent;
}

async function settingsOf(options: JoinOptions, log: Log): Promise<Settings> {
  const file = options.join === undefined ? {} : await readJoinFile(options.join);
  const given: Partial<JoinOptions> = { ...flagsIn(file.settings ?? {}), ...defined(options) };
  const serverText = options.server ?? file.server;
  const authorityPem = options.ca === undefined ? file.authorityPem : await readText(options.ca, 'the certificate authority');
  if (serverText === undefined || authorityPem === undefined) {
    throw new Error('Cannot join a cluster: where it is and how it is recognised is not known; give --server and --ca, or --join');
  }
  const address = options.address ?? file.address ?? machineFacts().address;
  if (isIP(address) === 0) throw new Error(`Cannot join as "${address}": it is not an IP address; give one that the cluster reaches`);
  const wantedName = options.name ?? file.name;
  if (wantedName !== undefined && isDns1123Subdomain(wantedName).length > 0) {
    throw new Error(`Cannot call the node "${wantedName}": a name has lower-case letters, digits, '-' and '.'; choose one like that`);
  }
  const tunnel = options.tunnel === undefined ? file.tunnel : tunnelOf(options.tunnel);
  return {
    name: await nodeName({ data: options.data, given: wantedName, hostname: machineFacts().hostname, log }),
    data: options.data,
    server: serverUrl(serverText),
    authorityPem,
    token: options.token ?? file.token,
    tunnel,
    mode: oneOf('--node', given.node ?? 'auto', ['auto', 'process', 'oci']),
    network: oneOf('--node-network', given.nodeNetwork ?? 'auto', ['auto', 'shared']),
    serviceRange: given.serviceRange ?? '10.0.0.0/24',
    podRange: given.podRange,
    address,
    serverAddress: address,
    // Through a tunnel nobody but this program itself connects.
    listen: given.listen ?? (tunnel === undefined ? address : '127.0.0.1'),
    resources: {},
    hostPaths: [],
    nodePortAddress: given.nodePortAddress,
    imageMirror: given.imageMirror,
    version: productVersion(),
  };
}

function tokenClient({ server, authorityPem, version }: Settings, token: string): Client {
  const transport = createHttpTransport({
    endpoint: { url: server },
    ca: () => Promise.resolve(authorityPem),
    credentials: tokenCredentials(token),
    headers: { 'User-Agent': `tenantry-node/${version}` },
    clock: realClock,
  });
  return createClient(transport, { clock: realClock });
}

/** `service-range` is `serviceRange`. */
function flagsIn(settings: Readonly<Record<string, string>>): Partial<JoinOptions> {
  const camel = (name: string) => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [camel(name), value]));
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function oneOf<T extends string>(flag: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new Error(`Cannot join with ${flag} "${value}": it is one of ${choices.join(', ')}; name one of them`);
  return found;
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:')
    throw new Error(`Cannot join "${text}": it is not the address of an API server; give one like https://10.0.0.1:6443`);
  return url;
}

function tunnelOf(text: string): { address: string; port: number } {
  const [, address, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(text) ?? [];
  if (address === undefined)
    throw new Error(`Cannot open a tunnel to "${text}": it is not an address and a port; say it like 10.0.0.1:8132`);
  return { address, port: Number(port) };
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Error(`Cannot read ${what} from "${path}": ${(cause as Error).message}; check the path`, { cause });
  }
}

async function readJoinFile(path: string): Promise<JoinFile> {
  const text = await readText(path, 'how to join');
  try {
    return JSON.parse(text) as JoinFile;
  } catch (cause) {
    throw new Error(`Cannot read how to join from "${path}": it is not JSON; make it again`, { cause });
  }
}

/** Resolves when a signal has come and everything is shut down. A second signal does not wait. */
function ended(stop: () => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const onSignal = () => {
      if (stopping) process.exit(1);
      stopping = true;
      stop().then((isClean) => {
        process.exitCode = isClean ? 0 : 1;
        resolve();
      }, reject);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  });
}
