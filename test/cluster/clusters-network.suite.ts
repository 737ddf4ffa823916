import { execFileSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uplinkOf } from '../../src/areas/clusters/network/model/address-plan.ts';
import type { NetworkPlan, Port, Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import type { Networks } from '../../src/areas/clusters/network/networks.ts';
import { connectTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { batch, INTERNET, MACHINE, NetworkWorld, PLATFORM_API, placeOf } from './clusters-network-world.ts';
import { nodeTools, type NodeTool } from './node-tools.ts';

/** What every provider of networks does. Packets are real, and workers are namespaces that speak through their ports. */
export function networksSuite(provider: string, create: (world: NetworkWorld) => Networks, tools: NodeTool[] = []): void {
  describe(`networks of tenants, made by ${provider}`, () => {
    let world: NetworkWorld;
    let networks: Networks;
    let a: Vpc;
    let b: Vpc;
    let c: Vpc;
    let worker: Record<string, Port>;

    const ensure = async (...vpcs: Vpc[]): Promise<void> => {
      const outcomes = await networks.ensure(world.plan(...vpcs));
      expect(outcomes.filter(({ error }) => error)).toEqual([]);
    };
    const say = (from: string, address: string, port = 8080): Promise<string> => world.ask(placeOf(worker[from]), address, port);
    const endpointOf = (vpc: Vpc): string => uplinkOf(world.platform, vpc.index).platform;
    const reach = async (from: string, to: Record<string, [address: string, port: number]>): Promise<Record<string, string>> =>
      Object.fromEntries(
        await Promise.all(Object.entries(to).map(async ([name, [address, port]]) => [name, await say(from, address, port)])),
      );

    beforeAll(async () => {
      await nodeTools(...tools);
      world = await NetworkWorld.start();
      networks = create(world);
      worker = {
        a1: await world.worker('a', 'a1', 'one', '10.0.1.10'),
        a2: await world.worker('a', 'a2', 'one', '10.0.1.11'),
        a3: await world.worker('a', 'a3', 'two', '10.0.2.10'),
        b1: await world.worker('b', 'b1', 'one', '10.0.1.10'),
        b2: await world.worker('b', 'b2', 'one', '10.0.1.12'),
        c1: await world.worker('c', 'c1', 'one', '10.0.3.10'),
      };
      const one = { name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' };
      a = world.vpc('a', 1, {
        subnets: [one, { name: 'two', cidr: '10.0.2.0/24', gateway: '10.0.2.1' }],
        ports: [worker['a1'], worker['a2'], worker['a3']],
      });
      b = world.vpc('b', 2, { subnets: [one], ports: [worker['b1'], worker['b2']] });
      c = world.vpc('c', 3, { subnets: [{ name: 'one', cidr: '10.0.3.0/24', gateway: '10.0.3.1' }], ports: [worker['c1']], egress: false });
      await ensure(a, b, c);
      for (const vpc of [a, b, c]) await world.listen(world.machine, 6443, `endpoint of ${vpc.name}`, endpointOf(vpc));
      await world.eventually('a2', () => say('a1', '10.0.1.11'));
    });

    afterAll(async () => {
      await networks?.remove();
      world?.close();
    });

    it('connects the workers of a tenant with each other, with their gateways, and with the world', async () => {
      await world.eventually('a2', () => say('a1', '10.0.1.11'));
      await world.eventually('a3', () => say('a1', '10.0.2.10'));
      await world.eventually('world', () => say('a1', INTERNET.address, INTERNET.port));
      await world.until(() => world.ping(placeOf(worker['a1']), '10.0.1.1'));
      await world.until(() => world.ping(placeOf(worker['a3']), '10.0.2.1'));
      await world.until(() => world.ping(placeOf(worker['c1']), '10.0.3.1'));
    });

    it('lets a tenant reach its own endpoint, and no other place of the platform', async () => {
      const platform = {
        endpoint: [endpointOf(a), 6443],
        otherPort: [endpointOf(a), MACHINE.port],
        endpointOfAnother: [endpointOf(b), 6443],
        platformApi: [PLATFORM_API.address, PLATFORM_API.port],
        machine: [MACHINE.address, MACHINE.port],
        ownRouter: [uplinkOf(world.platform, a.index).router, 8080],
        otherRouter: [uplinkOf(world.platform, b.index).router, 8080],
      } satisfies Record<string, [string, number]>;
      await world.eventually('endpoint of a', () => say('a1', endpointOf(a), 6443));
      await world.eventually('endpoint of b', () => say('b1', endpointOf(b), 6443));
      const silence = Object.fromEntries(Object.keys(platform).map((name) => [name, 'no answer']));
      expect(await reach('a1', platform)).toEqual({ ...silence, endpoint: 'endpoint of a' });
      expect(await reach('b1', platform)).toEqual({ ...silence, endpointOfAnother: 'endpoint of b' });
      expect(await world.ping(placeOf(worker['a1']), uplinkOf(world.platform, a.index).router)).toBe(false);
      expect(await world.ping(placeOf(worker['a1']), uplinkOf(world.platform, b.index).router)).toBe(false);
      expect(await world.ping(placeOf(worker['a1']), endpointOf(b))).toBe(false);
    });

    it('keeps tenants apart, with the same addresses and with others', async () => {
      expect(await say('a1', '10.0.1.12')).not.toBe('b2');
      expect(await say('b1', '10.0.1.11')).not.toBe('a2');
      expect(await reach('a1', { worker: ['10.0.3.10', 8080] })).toEqual({ worker: 'no answer' });
      expect(
        await reach('c1', { worker: ['10.0.2.10', 8080], gateway: ['10.0.2.1', 8080], world: [INTERNET.address, INTERNET.port] }),
      ).toEqual({
        worker: 'no answer',
        gateway: 'no answer',
        world: 'no answer',
      });
      expect(await world.ping(placeOf(worker['a1']), '10.0.3.1')).toBe(false);
      await world.eventually('b2', () => say('b1', '10.0.1.12'));
    });

    it('lets nobody outside open connections to workers', async () => {
      const { router } = uplinkOf(world.platform, a.index);
      const machine = basename(world.machine);
      batch(basename(world.world), [`route replace 10.0.1.0/24 via ${MACHINE.address}`]);
      batch(machine, [`route replace 10.0.1.0/24 via ${router}`]);
      expect(await world.ask(world.world, '10.0.1.10', 8080)).not.toBe('a1');
      // The machine's own rules do not judge what it sends itself: here the router does.
      const packets = await world.receive(placeOf(worker['a1']), 9004);
      await world.send(world.machine, endpointOf(a), '10.0.1.10', 9004, 'machine');
      await world.send(placeOf(worker['a2']), '10.0.1.11', '10.0.1.10', 9004, 'a2');
      await world.until(() => packets.includes('a2'));
      expect(packets).toEqual(['a2']);
      batch(machine, ['route delete 10.0.1.0/24']);
    });

    it('drops what does not come from the worker itself', async () => {
      const [a1, a2] = [worker['a1'], worker['a2']];
      const packets = await world.receive(placeOf(a2), 9000);
      const namespace = basename(placeOf(a1));
      batch(namespace, ['address add 10.0.1.77/24 dev eth0', 'address add 10.0.2.10/32 dev eth0']);
      for (const from of ['10.0.1.77', '10.0.2.10', '10.0.1.10']) await world.send(placeOf(a1), from, a2.address, 9000, from);
      await world.until(() => packets.includes('10.0.1.10'));
      expect(packets).toEqual(['10.0.1.10']);
      batch(namespace, ['address delete 10.0.1.77/24 dev eth0', 'address delete 10.0.2.10/32 dev eth0']);
      batch(namespace, ['link set eth0 address 02:aa:aa:aa:aa:aa']);
      expect(await world.ping(placeOf(a1), '10.0.1.1')).toBe(false);
      batch(namespace, [`link set eth0 address ${a1.mac}`, 'route replace default via 10.0.1.1 dev eth0']);
      await world.eventually('a2', () => say('a1', '10.0.1.11'));
    });

    it('peers two VPCs only when both agree, and cuts what is open when one no longer does', async () => {
      await ensure({ ...a, peers: ['c'] }, b, c);
      expect(await say('a3', '10.0.3.10')).toBe('no answer');
      await ensure({ ...a, peers: ['c'] }, b, { ...c, peers: ['a'] });
      await world.eventually('c1', () => say('a3', '10.0.3.10'));
      await world.eventually('a1', () => say('c1', '10.0.1.10'));
      expect(await say('b1', '10.0.3.10')).toBe('no answer');
      const heard: string[] = [];
      await world.listen(placeOf(worker['c1']), 9001, '', '0.0.0.0', (socket) => socket.on('data', (text) => heard.push(text.toString())));
      const socket: Socket = await connectTcp(placeOf(worker['a1']), { address: '10.0.3.10', port: 9001 });
      socket.on('error', () => {});
      socket.write('before');
      await world.until(() => heard.join('') === 'before');
      await ensure(a, b, { ...c, peers: ['a'] });
      await world.until(async () => (await say('a1', '10.0.3.10')) === 'no answer');
      socket.write('after');
      expect(await say('c1', '10.0.1.10')).toBe('no answer');
      expect(heard).toEqual(['before']);
      socket.destroy();
    });

    it('routes to addresses behind a worker, and only that worker may use them', async () => {
      const [a2, a3] = [worker['a2'], worker['a3']];
      batch(basename(placeOf(a3)), ['address add 10.244.3.1/32 dev lo']);
      batch(basename(placeOf(a2)), ['address add 10.244.3.1/32 dev lo']);
      await ensure({ ...a, routes: [{ cidr: '10.244.3.0/24', via: a3.address }] }, b, c);
      await world.eventually('a3', () => say('a1', '10.244.3.1'));
      const packets = await world.receive(placeOf(worker['a1']), 9002);
      await world.send(placeOf(a2), '10.244.3.1', worker['a1'].address, 9002, 'a2');
      await world.send(placeOf(a3), '10.244.3.1', worker['a1'].address, 9002, 'a3');
      await world.until(() => packets.includes('a3'));
      expect(packets).toEqual(['a3']);
      await ensure(a, b, c);
      await world.until(async () => (await say('a1', '10.244.3.1')) === 'no answer');
    });

    it('finds everything again after a restart, and traffic goes on', async () => {
      await world.listen(placeOf(worker['a3']), 9003, '', '0.0.0.0', (other) => other.pipe(other));
      const socket = await connectTcp(placeOf(worker['a1']), { address: '10.0.2.10', port: 9003 });
      let heard = '';
      socket.on('data', (text) => (heard += text.toString()));
      socket.write('before ');
      networks = create(world);
      await ensure(a, b, c);
      expect((await networks.observe()).map(({ name, intact }) => [name, intact])).toEqual([
        ['a', true],
        ['b', true],
        ['c', true],
      ]);
      socket.write('after');
      await world.until(() => heard === 'before after');
      socket.destroy();
    });

    it('takes a worker away without touching the others', async () => {
      await ensure({ ...a, ports: [worker['a1'], worker['a2']] }, b, c);
      expect(await say('a1', '10.0.2.10')).not.toBe('a3');
      await world.eventually('a2', () => say('a1', '10.0.1.11'));
      await ensure(a, b, c);
      await world.eventually('a3', () => say('a1', '10.0.2.10'));
    });

    it('says which VPC could not be made, and makes the others', async () => {
      const nowhere: Port = {
        ...worker['b1'],
        name: 'b3',
        address: '10.0.1.13',
        mac: '02:00:00:00:00:13',
        attachment: { kind: 'Namespace', path: '/run/netns/no-such' },
      };
      const plan: NetworkPlan = world.plan(a, { ...b, ports: [...b.ports, nowhere] }, c);
      const outcomes = await networks.ensure(plan);
      expect(outcomes.map(({ name, error }) => [name, error === undefined])).toEqual([
        ['a', true],
        ['b', false],
        ['c', true],
      ]);
      await world.eventually('a2', () => say('a1', '10.0.1.11'));
      await ensure(a, b, c);
      await world.eventually('b2', () => say('b1', '10.0.1.12'));
    });

    it('leaves nothing of a VPC that is no longer wanted', async () => {
      await ensure(a, c);
      expect(execFileSync('ip', ['-n', basename(placeOf(worker['b1'])), '-o', 'link', 'show'], { encoding: 'utf8' })).not.toContain('eth0');
      await world.eventually('a2', () => say('a1', '10.0.1.11'));
      await ensure(a, b, c);
      await world.eventually('b2', () => say('b1', '10.0.1.12'));
    });
  });
}
