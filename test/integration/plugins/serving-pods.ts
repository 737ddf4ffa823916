import { createServer, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Client } from '../../../src/client/client.ts';
import { Node, Pod } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { silentLog } from '../../../src/lib/log.ts';
import type { Informer } from '../../../src/runtime/informer/informer.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';

/** What the Pods of a version do. */
export interface Behaviour {
  serve: RequestListener;
  upgrade?(request: Parameters<RequestListener>[0], socket: Duplex, head: Buffer): void;
  /** Never answers its probes. */
  isUnready?: boolean;
  /** How often its container was started again. */
  restarts?: number;
}

interface Served {
  server: Server;
  address: string;
}

/**
 * Plays the kubelet for the Pods of plugins, with a real server each: at the address of the Pod, ready when it listens, and ended as
 * containers are: no new connections, what is under way is finished.
 */
export class ServingPods {
  readonly #client: Client;
  readonly #informers: SharedInformers;
  readonly #behaviour: (version: string, plugin: string) => Behaviour;
  readonly #served = new Map<string, Promise<Served | undefined>>();
  readonly #delayMs: number;
  readonly #alive: NodeJS.Timeout;
  /** Of the addresses that were given; two in one process begin at different ones. */
  #last: number;

  constructor(client: Client, behaviour: (version: string, plugin: string) => Behaviour, { startMs = 0, after = 0 } = {}) {
    this.#client = client;
    this.#behaviour = behaviour;
    this.#delayMs = startMs;
    this.#last = after;
    this.#informers = new SharedInformers({ client, log: silentLog });
    const pods = this.#informers.get(Pod, { labelSelector: 'plugins.tenantry.dev/workload' }) as unknown as Informer;
    // A node that says nothing for long is given up.
    this.#alive = setInterval(() => void this.#heartbeat().catch(() => {}), 10_000);
    pods.onChange((change) => {
      if (change.type === 'deleted') return;
      if (change.object.metadata.deletionTimestamp) void this.#end(change.object).catch(() => {});
      else if (change.object.spec.nodeName) void this.#start(change.object);
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#alive);
    await this.#informers.stop();
    for (const served of this.#served.values()) {
      const { server } = (await served) ?? {};
      server?.closeAllConnections();
      server?.close();
    }
  }

  async #heartbeat(): Promise<void> {
    const nodes = this.#client.resource(Node);
    for (const { metadata } of (await nodes.list()).items) {
      const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }];
      await nodes.status.patch(metadata.name!, { type: 'strategic', patch: { status: { conditions } } });
    }
  }

  #start(pod: KubeObject): Promise<Served | undefined> {
    const uid = pod.metadata.uid!;
    let served = this.#served.get(uid);
    if (!served) {
      served = this.#run(pod).catch(() => undefined);
      this.#served.set(uid, served);
    }
    return served;
  }

  async #run(pod: KubeObject): Promise<Served> {
    const [container] = pod.spec.containers;
    const version = container.env.find(({ name }: { name: string }) => name === 'PLUGIN_VERSION').value as string;
    const behaviour = this.#behaviour(version, container.env.find(({ name }: { name: string }) => name === 'PLUGIN_NAME').value);
    const server = createServer(behaviour.serve);
    if (behaviour.upgrade) server.on('upgrade', behaviour.upgrade);
    const address = this.#address();
    if (this.#delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(container.ports?.[0].containerPort ?? 0, address, resolve);
    });
    const isReady = behaviour.isUnready !== true;
    const state = { running: { startedAt: new Date().toISOString() } };
    const containerStatus = {
      name: container.name,
      ready: isReady,
      started: true,
      restartCount: behaviour.restarts ?? 0,
      state,
      image: container.image,
      imageID: '',
    };
    const status = {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: isReady ? 'True' : 'False' })),
      containerStatuses: [containerStatus],
    };
    await this.#client.resource(Pod, pod.metadata.namespace).status.patch(pod.metadata.name!, { type: 'strategic', patch: { status } });
    return { server, address };
  }

  async #end(pod: KubeObject): Promise<void> {
    const served = await (this.#served.get(pod.metadata.uid!) ?? undefined);
    if (served) {
      const { seconds = 0 } = pod.spec.containers[0].lifecycle?.preStop?.sleep ?? {};
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      const closed = new Promise((resolve) => served.server.close(resolve));
      served.server.closeIdleConnections();
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 10_000))]);
    }
    await this.#client.resource(Pod, pod.metadata.namespace).delete(pod.metadata.name!, { gracePeriodSeconds: 0 });
  }

  /** In 127.64.0.0/10, where Pods of a shared network have theirs; apart from those of other test processes. */
  #address(): string {
    this.#last++;
    return `127.${64 + ((process.pid >> 8) & 63)}.${process.pid & 255}.${this.#last}`;
  }
}
