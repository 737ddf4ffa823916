import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../../src/areas/clusters/machines/host/backend.ts';
import { HostMachines } from '../../../src/areas/clusters/machines/host/host-machines.ts';
import { MachineFolders } from '../../../src/areas/clusters/machines/host/machine-folders.ts';
import { WorkerImages } from '../../../src/areas/clusters/machines/image/worker-image.ts';
import type { WantedMachine } from '../../../src/areas/clusters/machines/machines.ts';
import { LinuxNetworks } from '../../../src/areas/clusters/network/linux/linux-networks.ts';
import { macOf } from '../../../src/areas/clusters/network/model/address-plan.ts';
import type { Port, Vpc } from '../../../src/areas/clusters/network/model/vpc.ts';
import { connectTcp } from '../../../src/engine/node/network/kernel/sockets.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { NetworkWorld, placeOf } from '../../cluster/clusters-network-world.ts';

/** What the witness tells. */
export interface Facts {
  hostname: string;
  release: string;
  version: string;
  bootId: string;
  time: number;
  processes: string[];
  folders: string[];
  resolver: string;
  join: { token: string; name: string; address: string; settings: Record<string, string> };
  note: string;
  imageIsWritable: boolean;
}

export const GUEST_ADDRESS = '10.0.1.20';
const SUBNETS = [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }];
const GIB = 1024 ** 3;

/** Two tenants with the same addresses, somebody in each network who talks to workers, and a product whose worker tells what it sees. */
export class GuestWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'tenantry-machines-'));
  readonly folders = new MachineFolders(join(this.root, 'workers'));
  readonly images: WorkerImages;
  readonly #world: NetworkWorld;
  readonly #networks: LinuxNetworks;
  readonly #askers: Record<string, Port>;
  readonly #guests = new Map<string, { vpc: string; port: Port }>();

  private constructor(world: NetworkWorld, askers: Record<string, Port>) {
    this.#world = world;
    this.#askers = askers;
    this.#networks = new LinuxNetworks({ instance: world.instance, machine: world.machine });
    const product = join(this.root, 'product');
    mkdirSync(join(product, 'dist'), { recursive: true });
    writeFileSync(join(product, 'package.json'), JSON.stringify({ name: 'witness', type: 'module' }));
    cpSync(join(import.meta.dirname, 'witness.mjs'), join(product, 'dist', 'worker.js'));
    this.images = new WorkerImages({ root: this.folders.images, product, node: process.execPath });
  }

  static async start(): Promise<GuestWorld> {
    const world = await NetworkWorld.start();
    const asker = (vpc: string) => world.worker(vpc, `${vpc}0`, 'one', '10.0.1.10');
    return new GuestWorld(world, { a: await asker('a'), b: await asker('b') });
  }

  machines(backend: Backend): HostMachines {
    return new HostMachines({ folders: this.folders, images: this.images, backend, clock: realClock, log: silentLog });
  }

  /** A place in the tenant's network, and what a worker there is to be. */
  async wanted(machines: HostMachines, id: string, vpc: string, address = GUEST_ADDRESS): Promise<WantedMachine> {
    const mac = macOf(vpc, address);
    const port: Port = { name: id, subnet: 'one', address, mac, attachment: await machines.place(id, `cluster-${vpc}`) };
    this.#guests.set(id, { vpc, port });
    const vpcs = await this.#ensure();
    const device = this.#networks.deviceOf(vpcs[vpc], port);
    return {
      id,
      cluster: `cluster-${vpc}`,
      name: `worker-${id}`,
      cpus: 1,
      memoryBytes: GIB / 2,
      diskBytes: GIB,
      network: { device, mac, address: `${address}/24`, gateway: '10.0.1.1', dns: ['10.0.1.1'] },
      join: { server: 'https://100.64.0.1:6443', authorityPem: 'pem', token: `token-of-${id}` },
      settings: { 'service-range': '10.96.0.0/16' },
    };
  }

  /** Its port goes with it. */
  async forget(id: string): Promise<void> {
    this.#guests.delete(id);
    await this.#ensure();
  }

  /** Asks a worker from inside of its tenant's network; undefined when nobody answers. */
  async ask<Answer>(vpc: string, path: string, address = GUEST_ADDRESS): Promise<Answer | undefined> {
    const place = placeOf(this.#askers[vpc]);
    try {
      const socket = await connectTcp(place, { address, port: 8080 }, { timeoutMs: 2000 });
      socket.end(`GET ${path} HTTP/1.0\r\n\r\n`);
      let text = '';
      const patience = setTimeout(() => socket.destroy(), 20_000);
      for await (const chunk of socket) text += String(chunk);
      clearTimeout(patience);
      return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Answer;
    } catch {
      return undefined;
    }
  }

  /** As soon as it answers. A guest without hardware behind it takes its time on a busy machine. */
  async facts(vpc: string, address = GUEST_ADDRESS): Promise<Facts> {
    const deadline = performance.now() + 90_000;
    for (;;) {
      const facts = await this.ask<Facts>(vpc, '/facts', address);
      if (facts !== undefined) return facts;
      if (performance.now() > deadline) throw new Error('the worker does not answer');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async close(): Promise<void> {
    await this.#networks.remove();
    this.#world.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  async #ensure(): Promise<Record<string, Vpc>> {
    const portsOf = (vpc: string) => [
      this.#askers[vpc],
      ...[...this.#guests.values()].filter((guest) => guest.vpc === vpc).map(({ port }) => port),
    ];
    const vpcs = Object.fromEntries(
      ['a', 'b'].map((name, index) => [name, this.#world.vpc(name, index + 1, { subnets: SUBNETS, ports: portsOf(name) })]),
    );
    const failed = (await this.#networks.ensure(this.#world.plan(...Object.values(vpcs)))).find(({ error }) => error);
    if (failed?.error) throw failed.error;
    return vpcs;
  }
}
