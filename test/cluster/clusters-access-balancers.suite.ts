import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadBalancer, Port, Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import type { Networks } from '../../src/areas/clusters/network/networks.ts';
import { connectTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { batch, MACHINE, NetworkWorld, placeOf } from './clusters-network-world.ts';
import { nodeTools, type NodeTool } from './node-tools.ts';

const VIP = '10.0.1.200';
const EXTERNAL = '198.51.100.7';

/** What every provider of networks does for load balancers. Packets are real. */
export function balancersSuite(provider: string, create: (world: NetworkWorld) => Networks, tools: NodeTool[] = []): void {
  describe(`load balancers of tenants, made by ${provider}`, () => {
    let world: NetworkWorld;
    let networks: Networks;
    let a: Vpc;
    let b: Vpc;
    let worker: Record<string, Port>;

    const ensure = async (...balancers: LoadBalancer[]): Promise<void> => {
      const outcomes = await networks.ensure(world.plan({ ...a, loadBalancers: balancers }, b));
      expect(outcomes.filter(({ error }) => error)).toEqual([]);
    };
    const web = (changes: Partial<LoadBalancer> = {}, ...names: string[]): LoadBalancer => ({
      name: 'web',
      subnet: 'one',
      address: VIP,
      ports: [{ protocol: 'tcp', port: 80, backends: names.map((name) => ({ address: worker[name].address, port: 8080 })) }],
      sources: [],
      sticky: false,
      ...changes,
    });
    const say = (from: string, address: string, port = 80): Promise<string> => world.ask(placeOf(worker[from]), address, port);
    const fromWorld = (address: string, port = 80): Promise<string> => world.ask(world.world, address, port);

    beforeAll(async () => {
      await nodeTools(...tools);
      world = await NetworkWorld.start();
      networks = create(world);
      worker = {
        a1: await world.worker('a', 'a1', 'one', '10.0.1.10'),
        a2: await world.worker('a', 'a2', 'one', '10.0.1.11'),
        a3: await world.worker('a', 'a3', 'two', '10.0.2.10'),
        b1: await world.worker('b', 'b1', 'one', '10.0.3.10'),
      };
      const subnets = [
        { name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' },
        { name: 'two', cidr: '10.0.2.0/24', gateway: '10.0.2.1' },
      ];
      a = world.vpc('a', 1, { subnets, ports: [worker['a1'], worker['a2'], worker['a3']], peers: ['b'] });
      b = world.vpc('b', 2, { subnets: [{ name: 'one', cidr: '10.0.3.0/24', gateway: '10.0.3.1' }], ports: [worker['b1']], peers: ['a'] });
      batch(`${world.name}-world`, [`route replace ${EXTERNAL}/32 via ${MACHINE.address}`]);
      await ensure(web({}, 'a1', 'a2'));
      await world.eventually('a2', () => say('a1', '10.0.1.11', 8080));
    });

    afterAll(async () => {
      await networks?.remove();
      world?.close();
    });

    it('reach every worker behind them, from the segment, from another, and from a peer', async () => {
      for (const from of ['a1', 'a2', 'a3', 'b1']) {
        const seen = new Set<string>();
        await world.until(async () => {
          seen.add(await say(from, VIP));
          return seen.has('a1') && seen.has('a2');
        });
      }
      expect(await say('a1', VIP, 81)).not.toMatch(/^a/);
    });

    it('are reached from outside only where they have an external address', async () => {
      const lead = (): void => batch(world.name, [`route replace ${VIP}/32 via 100.64.0.3`]);
      batch(`${world.name}-world`, [`route replace ${VIP}/32 via ${MACHINE.address}`]);
      lead();
      expect([await fromWorld(EXTERNAL), await fromWorld(VIP), await world.ask(world.machine, VIP, 80)].join()).not.toMatch(/a\d/);
      await ensure(web({ external: EXTERNAL }, 'a1'));
      lead();
      await world.eventually('a1', () => fromWorld(EXTERNAL));
      await world.eventually('a1', () => world.ask(world.machine, EXTERNAL, 80));
      expect([await fromWorld(VIP), await fromWorld(EXTERNAL, 8080)].join()).not.toMatch(/a\d/);
      // Workers still open no connections to the machine with the port that answers.
      await world.listen(world.machine, 9100, 'machine', '0.0.0.0');
      expect(await say('a1', '100.64.0.2', 9100)).toBe('no answer');
      await ensure(web({}, 'a1'));
      expect(await fromWorld(EXTERNAL)).not.toBe('a1');
    });

    it('let in only the sources they name', async () => {
      await ensure(web({ sources: ['10.0.1.10/32', '10.0.3.0/24'], external: EXTERNAL }, 'a2'));
      await world.eventually('a2', () => say('a1', VIP));
      await world.eventually('a2', () => say('b1', VIP));
      for (const from of ['a2', 'a3']) await world.eventually('no answer', () => say(from, VIP));
      await world.eventually('no answer', () => fromWorld(EXTERNAL));
      await ensure(web({ sources: ['203.0.113.0/24'], external: EXTERNAL }, 'a2'));
      await world.eventually('a2', () => fromWorld(EXTERNAL));
      // What a switch in user space did a moment ago it may do for another moment.
      for (const from of ['a1', 'b1']) await world.eventually('no answer', () => say(from, VIP));
    });

    it('always lead a client to the same worker when they are sticky', async () => {
      await ensure(web({ sticky: true }, 'a1', 'a2'));
      await world.until(async () => ['a1', 'a2'].includes(await say('a3', VIP)));
      const seen = new Set<string>();
      for (let time = 0; time < 12; time++) seen.add(await say('a3', VIP));
      expect(seen.size).toBe(1);
    });

    it('refuse at once when nobody answers for them', async () => {
      await ensure(web({}));
      await world.eventually('ECONNREFUSED', () => say('a1', VIP));
      await world.eventually('ECONNREFUSED', () => say('a3', VIP));
    });

    it('cut what is open when they go, and leave the address to others', async () => {
      await world.listen(placeOf(worker['a2']), 8081, '', '0.0.0.0', (socket) => socket.on('data', (chunk) => socket.write(chunk)));
      const echo = web({ ports: [{ protocol: 'tcp', port: 80, backends: [{ address: '10.0.1.11', port: 8081 }] }] });
      await ensure(echo);
      let socket: Socket | undefined;
      await world.until(async () => {
        socket = await connectTcp(placeOf(worker['a3']), { address: VIP, port: 80 }, { timeoutMs: 1000 }).catch(() => undefined);
        return socket !== undefined;
      });
      let heard = '';
      socket!.on('data', (chunk) => (heard += chunk.toString()));
      socket!.on('error', () => {});
      socket!.write('before');
      await world.until(() => heard === 'before');
      // Another one comes, and this one stays.
      await ensure(echo, { ...web({}, 'a1'), name: 'other', address: '10.0.1.201' });
      socket!.write(' still');
      await world.until(() => heard === 'before still');
      await ensure({ ...web({}, 'a1'), name: 'other', address: '10.0.1.201' });
      socket!.write(' after');
      await world.eventually('a1', () => say('a3', '10.0.1.201'));
      expect(heard).toBe('before still');
      expect(await say('a3', VIP)).not.toMatch(/^a/);
      socket!.destroy();
    });
  });
}
