import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Port, Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import { groupOf, portOf, subnetNames } from '../../src/areas/clusters/network/ovn/names.ts';
import { OvnNetworks } from '../../src/areas/clusters/network/ovn/ovn-networks.ts';
import { realClock } from '../../src/lib/clock.ts';
import { batch, NetworkWorld, path, placeOf } from './clusters-network-world.ts';
import { nodeTools } from './node-tools.ts';

/** What passes between two machines, counted on the cable: what goes through tunnels, what has tags, and what has neither. */
const COUNTERS = `table netdev cable {
  counter geneve { }
  counter tagged { }
  counter othertag { }
  counter naked { }
  chain tunnels {
    type filter hook ingress device "ta" priority 0; policy accept;
    udp dport 6081 counter name geneve
    ip saddr 10.0.0.0/8 counter name naked
  }
  chain wire {
    type filter hook ingress device "wa" priority 0; policy accept;
    ether type vlan vlan id 7 counter name tagged accept
    ether type vlan counter name othertag accept
    ip saddr 10.0.0.0/8 counter name naked
  }
}
`;

/** The second machine: a switch and a controller that ask the databases of the first. */
class SecondMachine {
  readonly namespace: string;
  readonly #folder: string;

  constructor(namespace: string, folder: string) {
    this.namespace = namespace;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  start(central: string): void {
    const db = `unix:${this.#folder}/switch.sock`;
    this.#run('ovsdb-tool', 'create', `${this.#folder}/switch.db`, '/usr/share/openvswitch/vswitch.ovsschema');
    this.#daemon('ovsdb-server', `--remote=p${db}`, `${this.#folder}/switch.db`);
    this.#daemon('ovs-vswitchd', '--disable-system', db);
    const settings = {
      'system-id': 'there',
      'ovn-remote': central,
      'ovn-encap-type': 'geneve',
      'ovn-encap-ip': '192.0.2.2',
      'ovn-bridge-datapath-type': 'netdev',
      'ovn-bridge-mappings': 'wire:br-wire',
    };
    const bridges: [string, string?][] = [['br-int'], ['br-tun', 'tun0'], ['br-wire', 'wire0']];
    const commands = [
      ['set', 'Open_vSwitch', '.', ...Object.entries(settings).map(([name, value]) => `external-ids:${name}="${value}"`)],
      ...bridges.flatMap(([bridge, link]) => [
        ['add-br', bridge],
        ['set', 'Bridge', bridge, 'datapath_type=netdev'],
        ...(link === undefined ? [] : [['add-port', bridge, link]]),
      ]),
    ];
    this.#run('ovs-vsctl', `--db=${db}`, ...commands.flatMap((command) => ['--', ...command]));
    batch(this.namespace, [
      'link set lo up',
      'address add 192.0.2.2/24 dev br-tun',
      'link set br-tun up',
      'link set tun0 up',
      'link set wire0 up',
    ]);
    this.#daemon('ovn-controller', db);
  }

  plug(worker: Port, name: string, gateway: string): void {
    const namespace = basename(placeOf(worker));
    batch(this.namespace, [`link add ${name} type veth peer name eth0 address ${worker.mac} netns ${namespace}`, `link set ${name} up`]);
    batch(namespace, [
      'link set lo up',
      `address add ${worker.address}/24 dev eth0`,
      'link set eth0 up',
      `route add default via ${gateway}`,
    ]);
    execFileSync('ip', ['netns', 'exec', namespace, 'ethtool', '-K', 'eth0', 'tx', 'off']);
    this.#run(
      'ovs-vsctl',
      `--db=unix:${this.#folder}/switch.sock`,
      'add-port',
      'br-int',
      name,
      '--',
      'set',
      'Interface',
      name,
      `external_ids:iface-id=${name}`,
    );
  }

  stop(): void {
    for (const name of ['ovn-controller', 'ovs-vswitchd', 'ovsdb-server']) {
      try {
        process.kill(Number(readFileSync(`${this.#folder}/${name}.pid`, 'utf8')), 'SIGKILL');
      } catch {
        // It never started.
      }
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #daemon(name: string, ...args: string[]): void {
    const file = (suffix: string): string => join(this.#folder, `${name}.${suffix}`);
    this.#run(
      name,
      '--detach',
      '--no-chdir',
      `--pidfile=${file('pid')}`,
      `--log-file=${file('log')}`,
      '-vconsole:off',
      '-vsyslog:off',
      ...args,
    );
  }

  #run(tool: string, ...args: string[]): void {
    const env = { ...process.env, OVS_RUNDIR: this.#folder, OVN_RUNDIR: this.#folder };
    execFileSync('nsenter', [`--net=${path(this.namespace)}`, tool, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

describe('VPCs over two machines', () => {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-ovn-'));
  let world: NetworkWorld;
  let networks: OvnNetworks;
  let second: SecondMachine;
  let cable: string;
  let a: Vpc;
  let v: Vpc;
  let there: Record<'a' | 'v', Port>;

  const counter = (name: string): number => {
    const said = execFileSync('ip', ['netns', 'exec', cable, 'nft', '-j', 'list', 'counters', 'netdev'], { encoding: 'utf8' });
    const { nftables } = JSON.parse(said) as { nftables: { counter?: { name: string; packets: number } }[] };
    return nftables.find((entry) => entry.counter?.name === name)!.counter!.packets;
  };

  beforeAll(async () => {
    await nodeTools('ethtool', 'ovs-vswitchd', 'ovn-northd', 'ovn-controller');
    world = await NetworkWorld.start();
    cable = world.namespace('-cable');
    second = new SecondMachine(world.namespace('-second'), join(root, 'second'));
    const machine = basename(world.machine);
    batch(cable, [
      ...['tunnels', 'wire'].flatMap((bridge) => [
        `link add ${bridge} type bridge forward_delay 0 mcast_snooping 0`,
        `link set ${bridge} up`,
      ]),
      `link add ta type veth peer name tun0 netns ${machine}`,
      `link add tb type veth peer name tun0 netns ${second.namespace}`,
      `link add wa type veth peer name wire0 netns ${machine}`,
      `link add wb type veth peer name wire0 netns ${second.namespace}`,
      ...['ta', 'tb'].map((link) => `link set ${link} master tunnels up`),
      ...['wa', 'wb'].map((link) => `link set ${link} master wire up`),
    ]);
    execFileSync('ip', ['netns', 'exec', cable, 'nft', '-f', '-'], { input: COUNTERS });
    const folder = join(root, 'first');
    const tunnels = { link: 'tun0', address: '192.0.2.1/24' };
    networks = new OvnNetworks({ instance: world.instance, machine: world.machine, folder, clock: realClock, tunnels, wire: 'wire0' });
    a = world.vpc('a', 1, {
      subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }],
      ports: [await world.worker('a', 'a1', 'one', '10.0.1.10')],
    });
    v = world.vpc('v', 2, {
      mode: 'VLAN',
      subnets: [{ name: 'one', cidr: '10.0.7.0/24', gateway: '10.0.7.1', vlan: 7 }],
      ports: [await world.worker('v', 'v1', 'one', '10.0.7.10')],
    });
    expect(networks.unable(v)).toBeUndefined();
    expect((await networks.ensure(world.plan(a, v))).filter(({ error }) => error)).toEqual([]);
    second.start(`unix:${folder}/central.sock`);
    there = { a: await world.worker('a', 'a2', 'one', '10.0.1.11'), v: await world.worker('v', 'v2', 'one', '10.0.7.11') };
    for (const vpc of [a, v]) await plugThere(vpc, there[vpc.name as 'a' | 'v']);
  });

  afterAll(async () => {
    second?.stop();
    await networks?.remove();
    world?.close();
    rmSync(root, { recursive: true, force: true });
  });

  /** A port whose worker is on the second machine. */
  async function plugThere(vpc: Vpc, worker: Port): Promise<void> {
    const name = `${vpc.name}there`;
    const commands = [
      ['lsp-add', subnetNames(vpc.name, vpc.subnets[0]).switch, name],
      ['lsp-set-addresses', name, `${worker.mac} ${worker.address}`],
      ['lsp-set-port-security', name, `${worker.mac} ${worker.address}`],
      // Segments of a wire alone have rules.
      ...(vpc.mode === 'VLAN' ? [['pg-set-ports', groupOf(vpc.name), ...vpc.ports.map((port) => portOf(vpc.name, port)), name]] : []),
    ];
    const args = commands.flatMap((command) => ['--', ...command]);
    await networks.run('ovn-nbctl', args);
    second.plug(worker, name, vpc.subnets[0].gateway);
  }

  it('of an overlay speak through Geneve tunnels, and in no other way', async () => {
    await world.eventually('a2', () => world.ask(placeOf(a.ports[0]), '10.0.1.11', 8080));
    expect(counter('geneve')).toBeGreaterThan(0);
    expect(counter('naked')).toBe(0);
  });

  it('of the mode VLAN speak with the tag of their subnet, and not through tunnels', async () => {
    const tunnelled = counter('geneve');
    await world.eventually('v2', () => world.ask(placeOf(v.ports[0]), '10.0.7.11', 8080));
    expect(counter('tagged')).toBeGreaterThan(0);
    expect([counter('geneve'), counter('othertag'), counter('naked')]).toEqual([tunnelled, 0, 0]);
  });

  it('do not meet on the second machine either, and lie about no address there', async () => {
    expect(await world.ask(placeOf(there.a), '10.0.7.10', 8080)).toBe('no answer');
    expect(await world.ask(placeOf(there.v), '10.0.1.10', 8080)).toBe('no answer');
    const packets = await world.receive(placeOf(a.ports[0]), 9000);
    batch(basename(placeOf(there.a)), ['address add 10.0.1.77/24 dev eth0']);
    for (const from of ['10.0.1.77', '10.0.1.11']) await world.send(placeOf(there.a), from, '10.0.1.10', 9000, from);
    await world.until(() => packets.includes('10.0.1.11'));
    expect(packets).toEqual(['10.0.1.11']);
  });
});
