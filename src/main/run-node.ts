import { join } from 'node:path';
import { createClient, type Client } from '../client/client.ts';
import { certificateCredentials, type KeyPair } from '../client/config/credentials.ts';
import { createHttpTransport } from '../client/http/http-transport.ts';
import { startAgent } from '../engine/node/agent.ts';
import type { NetworkOptions } from '../engine/node/network/network-options.ts';
import type { PodNetwork } from '../engine/node/network/pod-network.ts';
import { machineFacts, type MachineFacts } from '../engine/node/registration/machine-facts.ts';
import { createNodeServer, type NodeServer, type ServingPair } from '../engine/node/server/node-server.ts';
import type { PodAccess } from '../engine/node/server/pod-access.ts';
import { connectShim } from '../engine/node/shim/client/connect-shim.ts';
import { realClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { SharedInformers } from '../runtime/informer/shared-informers.ts';
import { chooseDriver } from './node-driver.ts';
import { nodeImages } from './node-images.ts';
import type { NodeMode } from './node-supervisor.ts';

export interface NodeOptions {
  name: string;
  /** The data directory. */
  data: string;
  server: URL;
  /** PEM of those that its cluster is known by; asked again for every connection. */
  authorities(): string;
  /** What the node shows to the API server; asked again for every connection. */
  client(): Promise<KeyPair>;
  /** What its own server shows. */
  serving(): Promise<ServingPair>;
  mode: Exclude<NodeMode, 'none'>;
  network: 'auto' | 'shared';
  serviceRange: string;
  podRange?: string;
  /** Where the API server finds the node. */
  serverAddress: string;
  /** Where the node's server listens. */
  listen: string;
  /** How the machine is known to others; absent: as it looks. */
  address?: string;
  resources: Readonly<Record<string, string>>;
  hostPaths: readonly string[];
  nodePortAddress?: string;
  handToApiServer?: NetworkOptions['handToApiServer'];
  /** A registry that is asked before all others. */
  imageMirror?: string;
  version: string;
  log: Log;
}

export interface RunningNode {
  /** Of the node's server. */
  port: number;
  renewServing(pair: ServingPair): void;
  /** Resolves to whether everything ended as it should. */
  stop(options: { keepPods: boolean }): Promise<boolean>;
}

/** A node of a cluster: connects what runs Pods with what the cluster wants. Resolves when Pods can come. */
export async function runNode(options: NodeOptions): Promise<RunningNode> {
  const { name, data, log, version } = options;
  const dir = join(data, 'node');
  const client = nodeClient(options);
  const informers = new SharedInformers({ client, log });
  const [shim, images, network] = await Promise.all([
    connectShim({ dir }),
    nodeImages(data, log, options.imageMirror),
    podNetwork(options, dir, client, informers),
  ]);
  const { driver, runtime } = await chooseDriver({ mode: options.mode, shim, dir, version, log });
  await images.cleanUp();
  let server: NodeServer | undefined;
  let port = 0;
  const agent = await startAgent({
    client,
    clock: realClock,
    log,
    random: Math.random,
    dir,
    machine: machine(options),
    node: {
      name,
      version,
      runtime,
      volumeFolder: join(dir, 'volumes'),
      serverAddress: options.serverAddress,
      resources: options.resources,
    },
    driver,
    images,
    informers,
    network,
    hostPathPolicy: options.hostPaths,
    isRoot: process.getuid?.() === 0,
    async serve(access: PodAccess) {
      server = await nodeServer(options, access);
      return (port = await server.listen());
    },
  });
  return {
    port,
    renewServing: (pair) => server?.renew(pair, options.authorities()),
    async stop({ keepPods }) {
      let clean = true;
      const steps: (() => Promise<void> | void | undefined)[] = [
        () => agent.stop({ keepPods }),
        () => server?.close(),
        () => informers.stop(),
        () => client.close(),
        () => shim.close({ endIfIdle: true }),
      ];
      // Whatever fails, the rest is undone.
      for (const step of steps) {
        try {
          await step();
        } catch (error) {
          log.error('cannot stop the node as it should be', { error });
          clean = false;
        }
      }
      return clean;
    },
  };
}

/** The API server, as the node. */
export function nodeClient({
  server,
  authorities,
  client,
  version,
}: Pick<NodeOptions, 'server' | 'authorities' | 'client' | 'version'>): Client {
  const transport = createHttpTransport({
    endpoint: { url: server },
    ca: () => Promise.resolve(authorities()),
    credentials: certificateCredentials(client),
    headers: { 'User-Agent': `tenantry-node/${version}` },
    clock: realClock,
  });
  return createClient(transport, { clock: realClock });
}

function machine({ address }: NodeOptions): MachineFacts {
  const facts = machineFacts();
  return address === undefined ? facts : { ...facts, address };
}

async function podNetwork(options: NodeOptions, dir: string, client: Client, informers: SharedInformers): Promise<PodNetwork> {
  const { server } = options;
  const network: NetworkOptions = {
    client,
    clock: realClock,
    log: options.log,
    dir,
    informers,
    nodeName: options.name,
    serviceCidr: options.serviceRange,
    podCidr: options.podRange,
    apiServer: { address: server.hostname.replace(/^\[|\]$/g, ''), port: Number(server.port || 443) },
    nodePortAddress: options.nodePortAddress,
    handToApiServer: options.handToApiServer,
  };
  if (options.network === 'shared') {
    const { createSharedNetwork } = await import('../engine/node/network/shared-network.ts');
    return createSharedNetwork({
      ...network,
      reason: 'Chosen',
      message: 'Pods share the network of this machine, because it was started with --node-network shared',
    });
  }
  return (await import('../engine/node/network/choose-network.ts')).chooseNetwork(network);
}

async function nodeServer(options: NodeOptions, access: PodAccess): Promise<NodeServer> {
  return createNodeServer({
    nodeName: options.name,
    access,
    tls: await options.serving(),
    clientAuthority: options.authorities(),
    address: options.listen,
    clock: realClock,
    onError: (error) => options.log.warn('a request to the node failed', { error }),
  });
}
