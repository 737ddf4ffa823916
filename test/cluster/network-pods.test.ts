import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Pod } from '../../src/client/kinds.ts';
import { inNamespace } from '../../src/engine/node/network/kernel/namespaces.ts';
import { connectTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { World, type WorldPod } from './network-world.ts';

let world: World;
let a: WorldPod;
let b: WorldPod;
beforeAll(async () => {
  world = await World.start();
  await world.namespace('web');
  a = await world.pod('web', 'a');
  b = await world.pod('web', 'b');
  await world.listen(a, 8080);
  await world.listen(b, 8080);
}, 120_000);
afterAll(() => world.close());

const inside = (place: string, command: string, ...args: string[]): string =>
  inNamespace(place, () => execFileSync(command, args, { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } }));

describe('the network of Pods', () => {
  it('lets Pods reach each other at addresses of their own', async () => {
    expect(a.address).not.toBe(b.address);
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
    expect(await world.ask(b, a.address, 8080, 3000)).toBe('a');
  });

  it('lets the machine reach Pods, and a Pod itself', async () => {
    expect(await world.ask(undefined, a.address, 8080, 3000)).toBe('a');
    expect(await world.ask(a, a.address, 8080, 3000)).toBe('a');
  });

  it('gives a Pod the same address when it is attached again', async () => {
    const again = await world.network.attach(a.object);
    expect(again).toEqual({ addresses: [a.address], namespacePath: a.place });
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
  });

  it('refuses connections to addresses that no Pod has at once', async () => {
    await expect(world.ask(a, b.address.replace(/\.\d+$/, '.250'), 8080, 3000)).rejects.toThrow(/EHOSTUNREACH|ENETUNREACH/);
  });

  it('takes no room in the table of neighbours that all namespaces share', async () => {
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
    expect(inside(a.place, 'ip', 'neighbour')).toMatch(/^169\.254\.1\.1 dev eth0 lladdr ee:ee:ee:ee:ee:ee PERMANENT\s*$/);
    expect(inside(a.place.slice(0, a.place.lastIndexOf('-')), 'ip', 'neighbour', 'show', a.address)).toContain('PERMANENT');
  });

  it('dials what listens on the loopback of a Pod, and what listens on its address only', async () => {
    await world.listen(a, 9001, '127.0.0.1');
    await world.listen(a, 9002, a.address);
    for (const port of [9001, 9002]) {
      const stream = await world.network.dial({ namespace: 'web', name: 'a', uid: a.uid }, port);
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).toBe('a');
    }
    await expect(world.network.dial({ namespace: 'web', name: 'a', uid: a.uid }, 9003)).rejects.toThrow('ECONNREFUSED');
  });

  it('dials the machine for a Pod in its network', async () => {
    const object = await world.client.resource(Pod, 'web').create({
      metadata: { name: 'host', namespace: 'web' },
      spec: { nodeName: 'node', hostNetwork: true, containers: [{ name: 'main', image: 'tenantry.dev/hello' }] },
    });
    await world.listen({ place: world.machinePath, name: 'machine' }, 9004, '127.0.0.1');
    const reference = { namespace: 'web', name: 'host', uid: object.metadata.uid! };
    await world.until(() => world.network.dial(reference, 9004).then(Boolean, () => false));
    await expect(world.network.dial({ ...reference, uid: 'another' }, 9004)).rejects.toThrow('Cannot reach Pod "web/host"');
  });

  it('drops packets of a Pod that uses the address of another', async () => {
    const seen: string[] = [];
    await world.listen(b, 8090, '0.0.0.0', (socket) => {
      seen.push(socket.remoteAddress ?? '');
      socket.end();
    });
    const victim = await world.pod('web', 'victim');
    inside(a.place, 'ip', 'address', 'add', `${victim.address}/32`, 'dev', 'eth0');
    const spoofed = connectTcp(a.place, { address: b.address, port: 8090 }, { localAddress: victim.address, timeoutMs: 400 });
    await expect(spoofed).rejects.toThrow('no answer in time');
    await world.ask(a, b.address, 8090, 3000);
    expect(seen).toEqual([a.address]);
    inside(a.place, 'ip', 'address', 'del', `${victim.address}/32`, 'dev', 'eth0');
  });

  it('keeps connections and addresses over a restart of the agent', async () => {
    const received: string[] = [];
    await world.listen(b, 8091, '0.0.0.0', (socket) => socket.on('data', (chunk) => received.push(chunk.toString())));
    const socket = await connectTcp(a.place, { address: b.address, port: 8091 });
    socket.write('before');
    await world.until(() => received.join('') === 'before');
    await world.restart();
    socket.write(' after');
    await world.until(() => received.join('') === 'before after');
    expect((await world.network.attach(a.object)).addresses).toEqual([a.address]);
    expect(await world.ask(b, a.address, 8080, 3000)).toBe('a');
    socket.destroy();
  });

  it('cleans up what Pods left that are gone', async () => {
    const gone = await world.pod('web', 'gone');
    expect(readdirSync('/run/netns')).toContain(gone.place.split('/').pop());
    await world.restart();
    await world.network.cleanUp(new Set([a.uid, b.uid]));
    expect(readdirSync('/run/netns')).not.toContain(gone.place.split('/').pop());
    await expect(world.ask(a, gone.address, 8080, 3000)).rejects.toThrow(/EHOSTUNREACH|ENETUNREACH/);
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
  });

  it('completes what a crash in the middle of attaching left behind', async () => {
    const half = { ...a.object, metadata: { ...a.object.metadata, name: 'half', uid: 'half' } };
    const { namespacePath } = await world.network.attach(half);
    await world.network.detach('half');
    const name = namespacePath!.split('/').pop()!;
    execFileSync('ip', ['netns', 'add', name]);
    const { addresses } = await world.network.attach(half);
    await world.listen({ place: namespacePath!, name: 'half' }, 8080);
    expect(await world.ask(a, addresses[0], 8080, 3000)).toBe('half');
    // The link is there, but its other end was never set up.
    await world.network.stop();
    inside(namespacePath!, 'ip', 'address', 'flush', 'dev', 'eth0');
    await world.restart();
    expect((await world.network.attach(half)).addresses).toEqual(addresses);
    expect(await world.ask(a, addresses[0], 8080, 3000)).toBe('half');
    await world.network.detach('half');
  });

  it('forgets nothing when the file with the addresses is lost', async () => {
    await world.network.stop();
    rmSync(join(world.dir, 'network', 'addresses.json'));
    await world.restart();
    expect((await world.network.attach(b.object)).addresses).toEqual([b.address]);
    expect((await world.network.attach(a.object)).addresses).toEqual([a.address]);
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
  });

  it('can be had again at once by a Pod that gave it up', async () => {
    const again = { ...a.object, metadata: { ...a.object.metadata, name: 'again', uid: 'again' } };
    for (let round = 0; round < 5; round++) {
      const { addresses, namespacePath } = await world.network.attach(again);
      const server = await world.listen({ place: namespacePath!, name: 'again' }, 8080);
      expect(await world.ask(a, addresses[0], 8080, 3000)).toBe('again');
      server.close();
      await world.network.detach('again');
    }
  });

  it('takes the network of a Pod away with the Pod', async () => {
    const { namespacePath, addresses } = await world.network.attach({
      ...a.object,
      metadata: { ...a.object.metadata, name: 'x', uid: 'x' },
    });
    await world.network.detach('x');
    await world.network.detach('x');
    expect(readdirSync('/run/netns')).not.toContain(namespacePath!.split('/').pop());
    await expect(world.ask(a, addresses[0], 8080, 3000)).rejects.toThrow(/EHOSTUNREACH|ENETUNREACH/);
  });

  it('cuts off what runs without a Pod that is known, until it is cleaned up', async () => {
    const stray = await world.pod('web', 'stray');
    await world.listen(stray, 8080);
    expect(await world.ask(a, stray.address, 8080, 3000)).toBe('stray');
    await world.network.stop();
    await world.client.resource(Pod, 'web').delete('stray', { gracePeriodSeconds: 0 });
    await world.restart();
    expect(await world.ask(a, stray.address, 8080)).toBeUndefined();
    expect(await world.ask(stray, a.address, 8080)).toBeUndefined();
    await world.network.cleanUp(new Set([a.uid, b.uid]));
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
  });
});

describe('the world outside', () => {
  const outside = { place: '', name: 'outside' };
  beforeAll(async () => {
    const name = `${world.machine}-out`;
    execFileSync('ip', ['netns', 'add', name]);
    outside.place = `/run/netns/${name}`;
    inside(world.machinePath, 'ip', 'link', 'add', 'lan', 'type', 'veth', 'peer', 'name', 'lan', 'netns', name);
    inside(world.machinePath, 'ip', 'address', 'add', '192.0.2.1/24', 'dev', 'lan');
    inside(world.machinePath, 'ip', 'link', 'set', 'lan', 'up');
    inside(outside.place, 'ip', 'address', 'add', '192.0.2.2/24', 'dev', 'lan');
    inside(outside.place, 'ip', 'link', 'set', 'lan', 'up');
    inside(outside.place, 'ip', 'route', 'add', 'default', 'via', '192.0.2.1');
    await world.listen(outside, 80, '0.0.0.0', (socket) => socket.end(socket.remoteAddress ?? ''));
  });
  afterAll(() => void execFileSync('ip', ['netns', 'del', `${world.machine}-out`]));

  it('is reached by Pods with the address of the machine', async () => {
    expect(await world.ask(a, '192.0.2.2', 80, 3000)).toBe('192.0.2.1');
  });

  it('does not reach Pods, but for node ports', async () => {
    expect(await world.ask(outside, a.address, 8080, 200)).toBeUndefined();
    expect(await world.ask(undefined, a.address, 8080, 3000)).toBe('a');
  });

  it('is closed by an egress policy but for the ranges that it names', async () => {
    await world.policy('web', 'lan-only', {
      podSelector: {},
      policyTypes: ['Egress'],
      egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.1/32'] } }] }],
    });
    await world.until(async () => (await world.ask(a, b.address, 8080, 150)) === undefined);
    expect(await world.ask(a, '192.0.2.2', 80, 3000)).toBe('192.0.2.1');
    await world.listen({ place: world.machinePath, name: 'machine' }, 82);
    expect(await world.ask(a, '192.0.2.1', 82, 200)).toBeUndefined();
    await world.removePolicy('web', 'lan-only');
    await world.until(async () => (await world.ask(a, '192.0.2.1', 82, 200)) === 'machine');
  });
});

describe('another instance on the machine', () => {
  it('has addresses of its own, and its Pods are strangers', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tenantry-neighbour-'));
    const other = world.neighbour(dir);
    await other.start();
    expect(other.podCidr).not.toBe(world.network.podCidr);
    const { namespacePath, addresses } = await other.attach({ ...a.object, metadata: { ...a.object.metadata, uid: 'theirs' } });
    await world.listen({ place: namespacePath!, name: 'theirs' }, 8080);
    expect(await world.ask(undefined, addresses[0], 8080, 3000)).toBe('theirs');
    expect(await world.ask(a, addresses[0], 8080, 200)).toBeUndefined();
    expect(await world.ask({ place: namespacePath! }, a.address, 8080, 200)).toBeUndefined();
    // It is killed, and its data directory removed: the next one that starts cleans up.
    await other.stop();
    rmSync(dir, { recursive: true });
    await world.restart();
    expect(existsSync(namespacePath!)).toBe(false);
    expect(inside(world.machinePath, 'ip', '-br', 'link').match(/tnt/g)).toHaveLength(1);
    expect(await world.ask(a, b.address, 8080, 3000)).toBe('b');
  });
});

describe('the end', () => {
  it('leaves nothing behind', async () => {
    await world.network.destroy();
    const id = a.place.split('/').pop()!.split('-')[1];
    expect(readdirSync('/run/netns').filter((name) => name.includes(id))).toEqual([]);
    expect(inside(world.machinePath, 'nft', 'list', 'tables')).toBe('');
    expect(inside(world.machinePath, 'ip', '-br', 'link')).not.toContain('tnt');
    expect(inside(world.machinePath, 'ip', 'route')).not.toContain('10.244');
  });

  it('is followed by a new beginning', async () => {
    await world.restart();
    const { addresses } = await world.network.attach(a.object);
    expect(addresses).toHaveLength(1);
  });
});
