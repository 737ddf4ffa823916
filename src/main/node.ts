import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient, type Client } from '../client/client.ts';
import { certificateCredentials } from '../client/config/credentials.ts';
import { createHttpTransport } from '../client/http/http-transport.ts';
import { startAgent, type Agent } from '../engine/node/agent.ts';
import type { PodNetwork } from '../engine/node/network/pod-network.ts';
import type { NetworkOptions } from '../engine/node/network/network-options.ts';
import { machineFacts } from '../engine/node/registration/machine-facts.ts';
import { createNodeServer, type NodeServer } from '../engine/node/server/node-server.ts';
import type { PodAccess } from '../engine/node/server/pod-access.ts';
import { connectShim } from '../engine/node/shim/client/connect-shim.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, LOG_LEVELS, type Log, type LogLevel } from '../lib/log.ts';
import { NODE_CLIENT, NODE_SERVER } from '../lib/pki/ensure-node-certificates.ts';
import { SharedInformers } from '../runtime/informer/shared-informers.ts';
import { chooseDriver } from './node-driver.ts';
import { nodeImages } from './node-images.ts';
import type { AgentMessage, SupervisorMessage } from './node-supervisor.ts';
import { productVersion } from './product-version.ts';

// It lives as long as `up`, from its first moment on: without an API server there is nothing to follow, and the next agent finds the Pods
// as they are.
process.on('disconnect', () => process.exit(0));
if (process.connected === false) process.exit(0);

/** The node agent: runs the Pods of one node. Started by `up` with everything it has to know, never by a user. */
const flags = parseArgs({
  options: {
    name: { type: 'string' },
    data: { type: 'string' },
    server: { type: 'string' },
    mode: { type: 'string', default: 'auto' },
    network: { type: 'string', default: 'auto' },
    'service-range': { type: 'string', default: '10.0.0.0/24' },
    'server-address': { type: 'string', default: '127.0.0.1' },
    listen: { type: 'string', default: '127.0.0.1' },
    resource: { type: 'string', multiple: true, default: [] },
    'allow-host-path': { type: 'string', multiple: true, default: [] },
    'node-port-address': { type: 'string' },
    'log-level': { type: 'string', default: 'warn' },
    'log-format': { type: 'string', default: 'json' },
  },
}).values;

const { name, data, server } = flags;
if (name === undefined || data === undefined || server === undefined) {
  throw new Error('Cannot start the node agent: it needs --name, --data and --server; start `tenantry up` instead');
}
const level = LOG_LEVELS.find((candidate): candidate is LogLevel => candidate === flags['log-level']) ?? 'warn';
const log = createLog({ level, format: flags['log-format'] === 'pretty' ? 'pretty' : 'json' }).with({ process: 'node' });
const dir = join(data, 'node');
const version = productVersion();

// What stops it from starting is the user's to mend (a setting, a missing program): one line says it. Later it would be a mistake of ours.
const cannotStart = (error: unknown): never => {
  log.error('cannot start the node', { error });
  process.exit(1);
};
process.once('uncaughtException', cannotStart);

const authority = await readFile(join(data, 'pki', 'ca.crt'), 'utf8');
const client = apiClient(new URL(server), authority);
const informers = new SharedInformers({ client, log });
const [shim, images, network] = await Promise.all([connectShim({ dir }), nodeImages(data, log), podNetwork(new URL(server))]);
const { driver, runtime } = await chooseDriver({ mode: flags.mode as 'auto', shim, dir, version, log });
await images.cleanUp();
let nodeServer: NodeServer | undefined;

const agent = await startAgent({
  client,
  clock: realClock,
  log,
  random: Math.random,
  dir,
  machine: machineFacts(),
  node: {
    name,
    version,
    runtime,
    volumeFolder: join(dir, 'volumes'),
    serverAddress: flags['server-address'],
    resources: Object.fromEntries(
      flags.resource.map((text) => [text.slice(0, text.lastIndexOf('=')), text.slice(text.lastIndexOf('=') + 1)]),
    ),
  },
  driver,
  images,
  informers,
  network,
  hostPathPolicy: flags['allow-host-path'],
  isRoot: process.getuid?.() === 0,
  serve,
});
process.off('uncaughtException', cannotStart);
followSupervisor(agent, log);

function apiClient(url: URL, ca: string): Client {
  const pem = (file: string) => readFile(join(data!, 'pki', file), 'utf8');
  const pair = Promise.all([pem(`${NODE_CLIENT}.crt`), pem(`${NODE_CLIENT}.key`)]).then(([cert, key]) => ({ cert, key }));
  const transport = createHttpTransport({
    endpoint: { url },
    ca: () => Promise.resolve(ca),
    credentials: certificateCredentials(() => pair),
    headers: { 'User-Agent': `tenantry-node/${version}` },
    clock: realClock,
  });
  return createClient(transport, { clock: realClock });
}

async function podNetwork(url: URL): Promise<PodNetwork> {
  const options: NetworkOptions = {
    client,
    clock: realClock,
    log,
    dir,
    informers,
    nodeName: name,
    serviceCidr: flags['service-range'],
    apiServer: { address: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) },
    nodePortAddress: flags['node-port-address'],
  };
  if (flags.network === 'shared') {
    const { createSharedNetwork } = await import('../engine/node/network/shared-network.ts');
    return createSharedNetwork({
      ...options,
      reason: 'Chosen',
      message: 'Pods share the network of this machine, because it was started with --node-network shared',
    });
  }
  return (await import('../engine/node/network/choose-network.ts')).chooseNetwork(options);
}

async function serve(access: PodAccess): Promise<number> {
  const pem = (file: string) => readFile(join(data!, 'pki', file), 'utf8');
  const [certificate, key] = await Promise.all([pem(`${NODE_SERVER}.crt`), pem(`${NODE_SERVER}.key`)]);
  nodeServer = createNodeServer({
    nodeName: name!,
    access,
    tls: { certificate, key },
    clientAuthority: authority,
    address: flags.listen,
    clock: realClock,
    onError: (error) => log.warn('a request to the node failed', { error }),
  });
  return nodeServer.listen();
}

function followSupervisor(running: Agent, agentLog: Log): void {
  const ready: AgentMessage = { type: 'ready' };
  process.send?.(ready);
  let stopping = false;
  const stop = async (keepPods: boolean): Promise<void> => {
    if (stopping) return;
    stopping = true;
    let exitCode = 0;
    const steps: (() => Promise<void> | void | undefined)[] = [
      () => running.stop({ keepPods }),
      () => nodeServer?.close(),
      () => informers.stop(),
      () => client.close(),
      () => shim.close({ endIfIdle: true }),
    ];
    // Whatever fails, the rest is undone.
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        agentLog.error('cannot stop the node as it should be', { error });
        exitCode = 1;
      }
    }
    process.exit(exitCode);
  };
  process.on('message', (message: SupervisorMessage) => void stop(message.keepPods));
  process.on('SIGTERM', () => {
    if (!process.connected) void stop(true);
  });
}
