import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LinuxNetworks } from '../../src/areas/clusters/network/linux/linux-networks.ts';
import { LinuxNames, UPLINK } from '../../src/areas/clusters/network/linux/names.ts';
import type { Port, Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import { INTERNET, NetworkWorld, path, placeOf } from './clusters-network-world.ts';
import { networksSuite } from './clusters-network.suite.ts';

networksSuite('linux', ({ instance, machine }) => new LinuxNetworks({ instance, machine }));

describe('a router that is broken', () => {
  let world: NetworkWorld;
  let networks: LinuxNetworks;
  let router: string;
  let a: Vpc;
  let b: Vpc;
  let workers: Port[];

  const ensure = async (): Promise<void> => {
    expect((await networks.ensure(world.plan(a, b))).filter(({ error }) => error)).toEqual([]);
  };
  const worldFrom = (worker: Port): Promise<string> => world.ask(placeOf(worker), INTERNET.address, INTERNET.port);

  beforeAll(async () => {
    world = await NetworkWorld.start();
    networks = new LinuxNetworks({ instance: world.instance, machine: world.machine });
    workers = [await world.worker('a', 'a1', 'one', '10.0.1.10'), await world.worker('b', 'b1', 'one', '10.0.2.10')];
    const subnets = [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }];
    a = world.vpc('a', 1, { subnets, ports: [workers[0]], peers: ['b'] });
    b = world.vpc('b', 2, { subnets: [{ name: 'one', cidr: '10.0.2.0/24', gateway: '10.0.2.1' }], ports: [workers[1]], peers: ['a'] });
    router = new LinuxNames(world.instance).namespace('a');
    await ensure();
  });

  afterAll(async () => {
    await networks?.remove();
    world?.close();
  });

  const breaks: [what: string, command: string[]][] = [
    ['its namespace is deleted', ['ip', 'netns', 'delete', '$ROUTER']],
    ['its rules are gone', ['ip', 'netns', 'exec', '$ROUTER', 'nft', 'flush', 'ruleset']],
    ['its uplink is gone', ['ip', '-n', '$ROUTER', 'link', 'delete', UPLINK]],
    [
      'the link to a peer is gone',
      ['sh', '-c', "ip -n $ROUTER -o link | grep -o 'x[0-9a-f]\\{8\\}' | head -1 | xargs ip -n $ROUTER link delete"],
    ],
    ['the rules of the machine are gone', ['nsenter', '--net=$MACHINE', 'nft', 'flush', 'ruleset']],
  ];
  it.each(breaks)('is made again when %s, and the others go on', async (_what, command) => {
    const [tool, ...args] = command.map((word) => word.replaceAll('$ROUTER', router).replaceAll('$MACHINE', world.machine));
    execFileSync(tool, args);
    expect((await networks.observe()).some(({ intact }) => !intact)).toBe(true);
    await world.until(() => world.ping(placeOf(workers[1]), '10.0.2.1'));
    await ensure();
    expect((await networks.observe()).every(({ intact }) => intact)).toBe(true);
    await world.eventually('world', () => worldFrom(workers[0]));
    await world.eventually('b1', () => world.ask(placeOf(workers[0]), '10.0.2.10', 8080));
    expect(await world.ask(placeOf(workers[0]), '10.0.1.1', 22)).toBe('no answer');
  });

  it('is made again when a crash left a file with no namespace behind it', async () => {
    await networks.remove();
    execFileSync('touch', [path(router)]);
    await ensure();
    await world.eventually('world', () => worldFrom(workers[0]));
  });

  it('leaves nothing behind when it is removed', async () => {
    await networks.remove();
    const names = new LinuxNames(world.instance);
    expect(readdirSync('/run/netns').filter((name) => name.startsWith(names.namespacePrefix))).toEqual([]);
    const left = execFileSync('sh', ['-c', `nsenter --net=${world.machine} ip -o link; nsenter --net=${world.machine} nft list ruleset`], {
      encoding: 'utf8',
    });
    expect(left).not.toContain(names.uplinkPrefix);
    expect(left).not.toContain(names.machineTable);
  });

  it('gives a guest a tap that its user may open', async () => {
    const tap: Port = { ...workers[0], name: 'guest', attachment: { kind: 'Tap', owner: 65_534 } };
    expect((await networks.ensure(world.plan({ ...a, ports: [tap] }))).filter(({ error }) => error)).toEqual([]);
    const { name, namespace } = networks.deviceOf(a, tap);
    const shown = execFileSync('nsenter', [`--net=${namespace}`, 'ip', '-d', 'link', 'show', name], { encoding: 'utf8' });
    expect(shown).toContain('tun type tap');
    expect(shown).toMatch(/user (nobody|65534)/);
  });
});
