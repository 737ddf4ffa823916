import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import type { NetworkChoice, Wire } from '../areas/clusters/network/open-networks.ts';
import { parseCidr } from '../kube/ip.ts';
import { isDns1123Subdomain, isQualifiedName } from '../kube/names.ts';
import { Quantity } from '../kube/quantity.ts';
import { createLog, LOG_LEVELS, type LogLevel } from '../lib/log.ts';
import { outliveReader } from '../lib/outlive-reader.ts';
import { exporterSettings } from '../lib/tracing/exporter-settings.ts';
import { startEngine, type Engine } from './engine.ts';
import { builtDefinitions } from './areas.ts';
import { kubeconfigPath } from './data-directory.ts';
import type { NodeMode, NodeSettings } from './node-supervisor.ts';
import { FAR_AHEAD, goAhead } from './processor-priority.ts';
import { productVersion } from './product-version.ts';
import { prepareDataDirectory, startFailure } from './start-failure.ts';

export interface UpOptions {
  data: string;
  port?: string;
  address: string;
  logLevel: string;
  logFormat: string;
  node: NodeMode;
  nodeNetwork: 'auto' | 'shared';
  nodeName?: string;
  nodeResource: string[];
  keepPods?: boolean;
  allowHostPath: string[];
  nodePortAddress?: string;
  otlpEndpoint?: string;
  gatewayPort?: string;
  clusterNetwork?: NetworkChoice;
  clusterWire?: string;
  clusterBackupLimit?: string;
  kubernetesPrograms?: string;
  workerKernel?: string;
  externalAddresses?: string[];
}

const DEFAULT_PORT = 6443;

/** `tenantry up`: starts the engine, says what it made and how to use it, and runs until it is told to stop. */
export async function up(options: UpOptions): Promise<void> {
  const port = portOf(options.port);
  const log = createLog({ level: levelOf(options.logLevel), format: options.logFormat === 'json' ? 'json' : 'pretty' });
  outliveReader(process.stdout);
  checkAddress(options.address);
  const node = nodeSettings(options);
  const traces = exporterSettings(process.env, 'tenantry', options.otlpEndpoint);
  await prepareDataDirectory(options.data);
  goAhead(FAR_AHEAD);
  const engine = await startEngine({
    data: options.data,
    address: options.address,
    port,
    fallBackToFreePort: options.port === undefined,
    version: productVersion(),
    areas: builtDefinitions,
    gateway: {
      port: options.gatewayPort === undefined ? undefined : portOf(options.gatewayPort),
      logLevel: options.logLevel,
      logFormat: options.logFormat,
    },
    clusters: {
      network: options.clusterNetwork,
      wire: wireOf(options.clusterWire),
      kubernetesPrograms: options.kubernetesPrograms === undefined ? undefined : resolve(options.kubernetesPrograms),
      workerKernel: options.workerKernel === undefined ? undefined : resolve(options.workerKernel),
      maxBackupBytes: options.clusterBackupLimit === undefined ? undefined : sizeOf(options.clusterBackupLimit),
      external: (options.externalAddresses ?? []).map(externalRange),
    },
    node,
    traces,
    log,
  }).catch((error: unknown) => {
    throw startFailure(error, options.data);
  });
  // From the first word on a signal means a clean stop: whoever waits for the greeting may send one right behind it.
  const ended = stopped(engine);
  process.stdout.write(greeting(engine, options));
  await ended;
}

function checkAddress(address: string): void {
  if (isIP(address) !== 0) return;
  throw new Error(
    `Cannot listen on "${address}": it is not an IP address; give one, such as 127.0.0.1, or 0.0.0.0 for all of this machine`,
  );
}

function nodeSettings(options: UpOptions): NodeSettings | undefined {
  const { node: mode, nodeName: name, keepPods = false, allowHostPath, nodePortAddress } = options;
  if (mode === 'none') return undefined;
  if (mode === 'oci' && process.getuid?.() !== 0) {
    throw new Error('Cannot run containers: this is not root; start it as root, or use --node process');
  }
  const resources: Record<string, string> = {};
  for (const text of options.nodeResource) {
    const [, resource, amount] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (resource === undefined || !resource.includes('/') || isQualifiedName(resource).length > 0) {
      throw new Error(`Cannot offer the resource "${text}": it is not a name with a domain and an amount; say it like example.com/gpu=4`);
    }
    if (!/^\d+$/.test(amount))
      throw new Error(`Cannot offer "${amount}" of ${resource}: it is not a whole number; say it like ${resource}=4`);
    resources[resource] = amount;
  }
  if (name !== undefined && isDns1123Subdomain(name).length > 0) {
    throw new Error(`Cannot call the node "${name}": a name has lower-case letters, digits, '-' and '.'; choose one like that`);
  }
  for (const path of allowHostPath) {
    if (!isAbsolute(path)) throw new Error(`Cannot let Pods use "${path}": it is not an absolute path; give one that begins with /`);
  }
  if (nodePortAddress !== undefined) checkAddress(nodePortAddress);
  const logFormat = options.logFormat === 'json' ? 'json' : 'pretty';
  return {
    mode,
    network: options.nodeNetwork,
    name,
    resources,
    keepPods,
    hostPaths: allowHostPath,
    nodePortAddress,
    logLevel: levelOf(options.logLevel),
    logFormat,
  };
}

function wireOf(text: string | undefined): Wire | undefined {
  if (text === undefined) return undefined;
  const [, link, first, last] = /^([^:/\s]{1,15}):(\d+)-(\d+)$/.exec(text) ?? [];
  if (link === undefined || Number(first) < 2 || Number(last) > 4094 || Number(first) > Number(last)) {
    throw new Error(`Cannot use the wire "${text}": it is not a link with the VLAN ids of tenants; say it like eth1:100-199`);
  }
  return { link, first: Number(first), last: Number(last) };
}

function externalRange(text: string): string {
  const cidr = text.includes('/') ? text : `${text}/32`;
  if (parseCidr(cidr)?.address.version === 4) return cidr;
  throw new Error(`Cannot give tenants "${text}": it is no IPv4 address or range; say it like 198.51.100.0/28`);
}

function sizeOf(text: string): number {
  let bytes = 0;
  try {
    bytes = Quantity.parse(text).value();
  } catch {
    // Told below.
  }
  if (bytes > 0) return bytes;
  throw new Error(`Cannot bound backups to "${text}": it is no size; say it like 4Gi`);
}

function portOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`Cannot listen on port "${text}": a port is a number from 0 to 65535; 0 picks a free one`);
  }
  return port;
}

function levelOf(text: string): LogLevel {
  const level = LOG_LEVELS.find((candidate) => candidate === text);
  if (level === undefined) throw new Error(`Cannot log at level "${text}": the levels are ${LOG_LEVELS.join(', ')}; name one of them`);
  return level;
}

function greeting(engine: Engine, options: UpOptions): string {
  const kubeconfig = kubeconfigPath(options.data);
  const state = engine.isNew ? `made a new instance in ${options.data}` : `found ${engine.objects} objects in ${options.data}`;
  const lines = [
    `Tenantry ${productVersion()} is ready at ${engine.url} (${Math.round(engine.startMs)} ms)`,
    '',
    `  data        ${state}`,
    `  kubeconfig  ${kubeconfig}`,
    `  audit log   ${engine.auditPath}`,
    `  node        ${engine.node === undefined ? 'none: Pods wait for one' : engine.node}`,
    '',
    'Use it from another terminal:',
    '',
    `  export KUBECONFIG=${quoted(kubeconfig)}`,
    '  kubectl get namespaces',
    '',
    `Ctrl-C stops it${options.keepPods ? '; its Pods go on' : ' and its Pods'}; the data stays.`,
    '',
  ];
  if (engine.portTaken !== undefined) {
    lines.splice(1, 0, `(port ${engine.portTaken} is taken by another program, so it listens on a free one; --port chooses)`);
  }
  return `${lines.join('\n')}\n`;
}

/** As a shell reads it, also with spaces in it. */
function quoted(path: string): string {
  return /^[\w./~+:@-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Resolves when a signal has come and everything is shut down. A second signal does not wait. */
function stopped(engine: Engine): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopping = false;
    const stop = (signal: string) => {
      if (stopping) process.exit(1);
      stopping = true;
      if (process.stdout.isTTY) process.stdout.write(`\n${signal}: stopping\n`);
      engine.stop().then(resolve, reject);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
  });
}
