import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket as UdpSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Namespace, NetworkPolicy, Node, Pod } from '../../src/client/kinds.ts';
import { bindUdp, connectTcp, listenTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { namespacePath } from '../../src/engine/node/network/kernel/namespaces.ts';
import { createNamespacedNetwork } from '../../src/engine/node/network/namespaced-network.ts';
import type { NetworkOptions } from '../../src/engine/node/network/network-options.ts';
import type { PodNetwork } from '../../src/engine/node/network/pod-network.ts';
import { isStatusError } from '../../src/kube/status.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../support/embedded-target.ts';
import { nodeTools } from './node-tools.ts';

export const SERVICE_CIDR = '10.0.0.0/24';

/** A Pod with a network and no containers: this process speaks from inside it. */
export interface WorldPod {
  object: KubeObject;
  namespace: string;
  name: string;
  uid: string;
  address: string;
  /** Path of its network namespace. */
  place: string;
}

export interface PodShape {
  labels?: Record<string, string>;
  ports?: { name: string; containerPort: number; hostPort?: number; protocol?: string }[];
  hostname?: string;
  subdomain?: string;
}

/** The embedded engine in this process, and a network namespace that plays the machine: nothing of the real one is touched. */
export class World {
  readonly engine: EmbeddedTarget;
  readonly client: Client;
  readonly machine: string;
  readonly machinePath: string;
  readonly dir: string;
  network: PodNetwork;
  #options: NetworkOptions;
  #closers: (() => void)[] = [];

  static async start(changes: Partial<NetworkOptions> = {}): Promise<World> {
    await nodeTools('ip', 'nft', 'conntrack', 'busybox');
    const engine = await startEmbeddedTarget();
    const client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: engine.kubeconfig }))));
    const machine = `ttm-${randomBytes(4).toString('hex')}`;
    execFileSync('ip', ['netns', 'add', machine]);
    execFileSync('ip', ['-n', machine, 'link', 'set', 'lo', 'up']);
    const world = new World(engine, client, machine, changes);
    await client.resource(Node).create({ metadata: { name: 'node' } });
    await world.network.start();
    return world;
  }

  private constructor(engine: EmbeddedTarget, client: Client, machine: string, changes: Partial<NetworkOptions>) {
    this.engine = engine;
    this.client = client;
    this.machine = machine;
    this.machinePath = namespacePath(machine);
    this.dir = mkdtempSync(join(tmpdir(), 'tenantry-network-'));
    const { hostname, port } = new URL(engine.url);
    this.#options = {
      client,
      clock: realClock,
      log: createLog({ level: 'warn' }),
      dir: this.dir,
      serviceCidr: SERVICE_CIDR,
      apiServer: { address: hostname, port: Number(port) },
      nodeName: 'node',
      machineNamespace: machine,
      ...changes,
    };
    this.network = createNamespacedNetwork(this.#options);
  }

  /** As after a crash of the agent: the kernel keeps what there is, a new process takes it over. */
  async restart(): Promise<void> {
    await this.network.stop();
    this.network = createNamespacedNetwork(this.#options);
    await this.network.start();
  }

  /** Another instance on the same machine, with a data directory of its own. */
  neighbour(dir: string): PodNetwork {
    return createNamespacedNetwork({ ...this.#options, dir });
  }

  async close(): Promise<void> {
    for (const close of this.#closers) close();
    await this.network.destroy();
    await this.client.close();
    await this.engine.close();
    execFileSync('ip', ['netns', 'del', this.machine]);
    rmSync(this.dir, { recursive: true, force: true });
  }

  async namespace(name: string, labels: Record<string, string> = {}): Promise<void> {
    await this.client.resource(Namespace).create({ metadata: { name, labels } });
    await this.until(async () => {
      try {
        await this.client.request({ method: 'GET', path: `/api/v1/namespaces/${name}/serviceaccounts/default` });
        return true;
      } catch (error) {
        if (isStatusError(error, 'NotFound')) return false;
        throw error;
      }
    });
  }

  async pod(namespace: string, name: string, shape: PodShape = {}): Promise<WorldPod> {
    const { labels, ports, ...rest } = shape;
    const object = (await this.client.resource(Pod, namespace).create({
      metadata: { name, namespace, labels },
      spec: { nodeName: 'node', ...rest, containers: [{ name: 'main', image: 'tenantry.dev/hello', ports }] },
    })) as unknown as KubeObject;
    const { addresses, namespacePath: place } = await this.network.attach(object);
    const [address] = addresses;
    const status = { podIP: address, podIPs: [{ ip: address }], phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await this.client.resource(Pod, namespace).status.patch(name, { type: 'merge', patch: { status } });
    return { object, namespace, name, uid: object.metadata.uid!, address, place: place! };
  }

  async policy(namespace: string, name: string, spec: Json): Promise<void> {
    await this.client.resource(NetworkPolicy, namespace).create({ metadata: { name, namespace }, spec });
  }

  async removePolicy(namespace: string, name: string): Promise<void> {
    await this.client.resource(NetworkPolicy, namespace).delete(name);
  }

  /** Accepts connections in a Pod; the default handler says who answers. */
  async listen(pod: { place: string; name: string }, port: number, address = '0.0.0.0', serve?: (socket: Socket) => void): Promise<Server> {
    const server = await listenTcp(pod.place, { address, port }, (socket) => {
      socket.on('error', () => {});
      if (serve) serve(socket);
      else socket.end(pod.name);
    });
    this.#closers.push(() => server.close());
    return server;
  }

  /** Answers every packet with the name of the Pod. */
  async listenUdp(pod: { place: string; name: string }, port: number): Promise<UdpSocket> {
    const socket = await bindUdp(pod.place, { address: '0.0.0.0', port });
    socket.on('message', (_, from) => socket.send(pod.name, from.port, from.address));
    this.#closers.push(() => closeQuietly(socket));
    return socket;
  }

  /** What the listener said, or undefined when nothing came in time. A refusal is thrown. */
  async ask(from: { place: string } | undefined, address: string, port: number, timeoutMs = 250): Promise<string | undefined> {
    let socket: Socket;
    try {
      socket = await connectTcp(from?.place ?? this.machinePath, { address, port }, { timeoutMs });
    } catch (error) {
      if ((error as Error).message.includes('no answer in time')) return undefined;
      throw error;
    }
    return new Promise((resolve, reject) => {
      let text = '';
      const timer = setTimeout(() => {
        socket.destroy();
        resolve(undefined);
      }, timeoutMs);
      socket.on('close', () => clearTimeout(timer));
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
  }

  async askUdp(from: { place: string } | undefined, address: string, port: number, timeoutMs = 250): Promise<string | undefined> {
    const socket = await bindUdp(from?.place ?? this.machinePath, { address: '0.0.0.0', port: 0 });
    return new Promise((resolve) => {
      const end = (text?: string): void => {
        clearTimeout(timer);
        clearInterval(repeat);
        closeQuietly(socket);
        resolve(text);
      };
      const timer = setTimeout(end, timeoutMs);
      socket.on('message', (answer) => end(answer.toString()));
      socket.on('error', () => end());
      const send = (): void => socket.send('hello', port, address, () => {});
      // UDP does not come again by itself.
      const repeat = setInterval(send, 40);
      send();
    });
  }

  async until(condition: () => Promise<boolean> | boolean, timeoutMs = 10_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error('it did not happen in time');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

function closeQuietly(socket: UdpSocket): void {
  try {
    socket.close();
  } catch {
    // Closed already.
  }
}
