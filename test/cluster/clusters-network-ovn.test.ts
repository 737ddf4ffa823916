import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { macOf, uplinkOf } from '../../src/areas/clusters/network/model/address-plan.ts';
import { networksUnable } from '../../src/areas/clusters/network/network-ability.ts';
import type { Port, Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import { portOf, routerOf, subnetNames } from '../../src/areas/clusters/network/ovn/names.ts';
import { OvnNetworks } from '../../src/areas/clusters/network/ovn/ovn-networks.ts';
import { realClock } from '../../src/lib/clock.ts';
import { INTERNET, NetworkWorld, PLATFORM_API, placeOf } from './clusters-network-world.ts';
import { networksSuite } from './clusters-network.suite.ts';
import { nodeTools, type NodeTool } from './node-tools.ts';

const TOOLS: NodeTool[] = ['ethtool', 'ovs-vswitchd', 'ovn-northd', 'ovn-controller'];
const folders: string[] = [];
const newFolder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'tenantry-ovn-')));
  return folders.at(-1)!;
};
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const shared = newFolder();
networksSuite('ovn', ({ instance, machine }) => new OvnNetworks({ instance, machine, folder: shared, clock: realClock }), TOOLS);

describe('networks of tenants in OVN', () => {
  const folder = newFolder();
  let world: NetworkWorld;
  let networks: OvnNetworks;
  let workers: Port[];
  let a: Vpc;
  let b: Vpc;

  const create = (): OvnNetworks => new OvnNetworks({ instance: world.instance, machine: world.machine, folder, clock: realClock });
  const ensure = async (...vpcs: Vpc[]): Promise<void> => {
    expect((await networks.ensure(world.plan(...vpcs))).filter(({ error }) => error)).toEqual([]);
  };

  beforeAll(async () => {
    await nodeTools(...TOOLS);
    world = await NetworkWorld.start();
    networks = create();
    workers = [
      await world.worker('a', 'a1', 'one', '10.0.1.10'),
      await world.worker('a', 'a2', 'one', '10.0.1.11'),
      await world.worker('b', 'b1', 'one', '10.0.1.10'),
    ];
    const subnets = [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }];
    a = world.vpc('a', 1, { subnets, ports: workers.slice(0, 2) });
    b = world.vpc('b', 2, {
      subnets: [...subnets, { name: 'two', cidr: '10.0.2.0/24', gateway: '10.0.2.1' }],
      ports: workers.slice(2),
      egress: false,
    });
    await ensure(a, b);
  });

  afterAll(async () => {
    await networks?.remove();
    world?.close();
  });

  /** Where OVN says that a new connection of a worker ends: the port, or nowhere. */
  async function trace(vpc: Vpc, port: Port, address: string, { tcp = 6443, source = port.address, mac = port.mac } = {}): Promise<string> {
    const [subnet] = vpc.subnets;
    const local = vpc.ports.find((other) => other.address === address);
    const target = local?.mac ?? macOf(vpc.name, subnet.gateway);
    const packet = [
      `inport == "${portOf(vpc.name, port)}"`,
      `eth.src == ${mac} && eth.dst == ${target}`,
      `ip4.src == ${source} && ip4.dst == ${address} && ip.ttl == 64`,
      `tcp.dst == ${tcp}`,
    ];
    const said = await networks.run('ovn-trace', ['--minimal', '--ct=new', subnetNames(vpc.name, subnet).switch, packet.join(' && ')]);
    return /output\("([^"]+)"\)/.exec(said)?.[1] ?? 'nowhere';
  }
  const endpointOf = (vpc: Vpc): string => uplinkOf(world.platform, vpc.index).platform;
  const routerAddress = (vpc: Vpc): string => uplinkOf(world.platform, vpc.index).router;

  it('deliver to peers, the own endpoint and the world, and nowhere else, by the word of ovn-trace', async () => {
    const [a1, a2, b1] = workers;
    const out = 'external.wire';
    const cases: [what: string, end: string, traced: Promise<string>][] = [
      ['a peer', portOf('a', a2), trace(a, a1, a2.address)],
      ['the own endpoint', out, trace(a, a1, endpointOf(a))],
      ['another port of it', 'nowhere', trace(a, a1, endpointOf(a), { tcp: 22 })],
      ['the endpoint of another', 'nowhere', trace(a, a1, endpointOf(b))],
      ['the router of another', 'nowhere', trace(a, a1, routerAddress(b))],
      ['the outside of the own router', 'nowhere', trace(a, a1, routerAddress(a))],
      ['the API server of the platform', 'nowhere', trace(a, a1, PLATFORM_API.address)],
      ['the world', out, trace(a, a1, INTERNET.address, { tcp: 80 })],
      ['the world without egress', 'nowhere', trace(b, b1, INTERNET.address, { tcp: 80 })],
      ['a subnet of another', 'nowhere', trace(a, a1, '10.0.2.10')],
      ['the gateway of another', 'nowhere', trace(a, a1, '10.0.2.1')],
      ['a peer, from an address that is not its own', 'nowhere', trace(a, a1, a2.address, { source: '10.0.1.77' })],
      ['a peer, from a card that is not its own', 'nowhere', trace(a, a1, a2.address, { mac: '02:aa:aa:aa:aa:aa' })],
    ];
    const found = await Promise.all(cases.map(async ([what, , traced]) => [what, await traced]));
    expect(found).toEqual(cases.map(([what, end]) => [what, end]));
  });

  it('deliver no IPv6 of a worker to anybody, by the word of ovn-trace', async () => {
    const [a1, a2] = workers;
    const from = `inport == "${portOf('a', a1)}" && eth.src == ${a1.mac} && ip6.src == fe80::1 && ip.ttl == 64`;
    for (const to of [
      `eth.dst == ${a2.mac} && ip6.dst == fe80::2 && tcp.dst == 80`,
      'eth.dst == 33:33:00:00:00:01 && ip6.dst == ff02::1 && icmp6',
    ]) {
      const said = await networks.run('ovn-trace', ['--minimal', subnetNames('a', a.subnets[0]).switch, `${from} && ${to}`]);
      expect(said).not.toContain('output');
    }
  });

  it('would lead to the platform without the policies of the router, which come back with the next start', async () => {
    await networks.run('ovn-nbctl', ['--wait=sb', 'lr-policy-del', routerOf('a')]);
    expect(await trace(a, workers[0], PLATFORM_API.address)).toBe('external.wire');
    // The machine's own rules hold even then.
    expect(await world.ask(placeOf(workers[0]), PLATFORM_API.address, PLATFORM_API.port)).toBe('no answer');
    networks = create();
    await ensure(a, b);
    expect(await trace(a, workers[0], PLATFORM_API.address)).toBe('nowhere');
  });

  const pidOf = (name: string): number => Number(readFileSync(join(folder, `${name}.pid`), 'utf8'));
  it.each(['central-db', 'ovn-northd', 'ovn-controller', 'switch-db', 'ovs-vswitchd'])('come back when %s is killed', async (name) => {
    process.kill(pidOf(name), 'SIGKILL');
    await world.until(async () => (await networks.observe()).some(({ intact }) => !intact));
    // Packets need the switch, which needs its database, and nobody else.
    if (!['switch-db', 'ovs-vswitchd'].includes(name))
      await world.eventually('a2', () => world.ask(placeOf(workers[0]), workers[1].address, 8080));
    await ensure(a, b);
    expect((await networks.observe()).every(({ intact }) => intact)).toBe(true);
    await world.eventually('a2', () => world.ask(placeOf(workers[0]), workers[1].address, 8080));
    await world.eventually('world', () => world.ask(placeOf(workers[0]), INTERNET.address, INTERNET.port));
    expect(await world.ask(placeOf(workers[2]), INTERNET.address, INTERNET.port)).toBe('no answer');
  });

  it('come back when the namespace of the switch is deleted', async () => {
    const { namespace } = networks.deviceOf(a, workers[0]);
    execFileSync('ip', ['netns', 'delete', basename(namespace!)]);
    expect((await networks.observe()).some(({ intact }) => !intact)).toBe(true);
    await ensure(a, b);
    await world.eventually('a2', () => world.ask(placeOf(workers[0]), workers[1].address, 8080));
    await world.eventually('world', () => world.ask(placeOf(workers[0]), INTERNET.address, INTERNET.port));
  });

  it('refuse what OVN cannot do, with the reason', () => {
    expect(networks.unable({ ...a, mode: 'VLAN' })).toBe(
      'Cannot make VPC "a" in the mode VLAN: this machine has no wire for tagged segments; name one, or use Overlay',
    );
    expect(networks.unable({ ...a, services: [{ protocol: 'tcp', port: 53 }] })).toContain("OVN's routers run none");
    expect(networks.unable(a)).toBeUndefined();
  });

  it('can be had on this machine, and so can those of linux', async () => {
    expect([await networksUnable('ovn'), await networksUnable('linux')]).toEqual([undefined, undefined]);
  });

  it('leave nothing behind', async () => {
    const pids = ['central-db', 'ovn-northd', 'ovn-controller', 'switch-db', 'ovs-vswitchd'].map(pidOf);
    const { namespace } = networks.deviceOf(a, workers[0]);
    await networks.remove();
    expect(pids.map((pid) => existsSync(`/proc/${pid}/exe`))).not.toContain(true);
    expect(existsSync(namespace!)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    const left = execFileSync('sh', ['-c', `nsenter --net=${world.machine} ip -o link; nsenter --net=${world.machine} nft list ruleset`], {
      encoding: 'utf8',
    });
    expect(left).not.toContain(`ovn${world.instance}`);
    expect(left).not.toContain(`tenantry-ovn-${world.instance}`);
  });
});
