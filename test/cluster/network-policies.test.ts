import { execFileSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Event, Namespace, NetworkPolicy, Pod } from '../../src/client/kinds.ts';
import { connectTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { inNamespace } from '../../src/engine/node/network/kernel/namespaces.ts';
import { MetricsRegistry } from '../../src/lib/metrics.ts';
import { World, type WorldPod } from './network-world.ts';

let world: World;
let server: WorldPod;
let client: WorldPod;
const metrics = new MetricsRegistry();
beforeAll(async () => {
  world = await World.start({ metrics });
  await world.namespace('red', { team: 'red' });
  await world.namespace('pink', { team: 'pink' });
  server = await world.pod('red', 'server', { labels: { app: 'server' } });
  client = await world.pod('red', 'client', { labels: { app: 'client' } });
  await world.listen(server, 80);
}, 120_000);
afterEach(async () => {
  for (const namespace of ['red', 'pink']) await world.client.resource(NetworkPolicy, namespace).deleteCollection();
  await world.until(async () => (await reach()) === 'server');
});
afterAll(() => world.close());

const reach = (from: WorldPod | undefined = client, timeoutMs = 150): Promise<string | undefined> =>
  world.ask(from, server.address, 80, timeoutMs).catch(() => undefined);
const ALLOW_CLIENT = {
  podSelector: { matchLabels: { app: 'server' } },
  ingress: [{ from: [{ podSelector: { matchLabels: { app: 'client' } } }] }],
};
const DENY_SERVER = { podSelector: { matchLabels: { app: 'server' } }, policyTypes: ['Ingress'] };

/** A connection on which the server says something all the time, and the client nothing. */
async function openStream(port: number): Promise<{ socket: Socket; served: Socket; received: () => number; stop: () => void }> {
  let timer: ReturnType<typeof setInterval> | undefined;
  let served: Socket | undefined;
  const listener = await world.listen(server, port, '0.0.0.0', (accepted) => {
    served = accepted;
    timer = setInterval(() => accepted.write('tick'), 10);
    accepted.on('close', () => clearInterval(timer));
  });
  const socket = await connectTcp(client.place, { address: server.address, port });
  let received = 0;
  socket.on('data', () => received++);
  socket.on('error', () => {});
  await world.until(() => received > 3);
  const stop = (): void => {
    clearInterval(timer);
    socket.destroy();
    listener.close();
  };
  return { socket, served: served!, received: () => received, stop };
}

describe('policies in the kernel', () => {
  it('cut a connection that is open, both ways, when the rule that allowed it goes', async () => {
    await world.policy('red', 'allow', ALLOW_CLIENT);
    await world.until(async () => (await reach()) === 'server');
    const stream = await openStream(81);
    const told = [stream.socket, stream.served].map((socket) => new Promise((resolve) => socket.on('close', resolve)));
    await world.client.resource(NetworkPolicy, 'red').patch('allow', { type: 'merge', patch: { spec: { ingress: null } } });
    // Each end hears of it when it next says something: the server at once.
    await told[1];
    const before = stream.received();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stream.received()).toBe(before);
    stream.socket.write('still there?');
    await told[0];
    stream.stop();
  });

  it('leave a connection alone that another rule still allows', async () => {
    await world.policy('red', 'allow', ALLOW_CLIENT);
    const stream = await openStream(82);
    await world.policy('red', 'deny', DENY_SERVER);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = stream.received();
    await world.until(() => stream.received() > before + 3);
    expect(stream.socket.destroyed).toBe(false);
    stream.stop();
  });

  it('let the machine in, whose probes must not fail', async () => {
    await world.policy('red', 'deny', DENY_SERVER);
    await world.until(async () => (await reach()) === undefined);
    expect(await world.ask(undefined, server.address, 80, 3000)).toBe('server');
    expect(await world.ask(server, server.address, 80, 3000)).toBe('server');
  });

  it('isolate both directions when the types are not said and there are egress rules', async () => {
    await world.policy('red', 'implied', { podSelector: { matchLabels: { app: 'server' } }, egress: [{}] });
    await world.until(async () => (await reach()) === undefined);
  });

  it('follow the labels of Pods', async () => {
    await world.policy('red', 'allow', ALLOW_CLIENT);
    const changing = await world.pod('red', 'changing', { labels: { app: 'stranger' } });
    expect(await reach(changing)).toBeUndefined();
    await world.client.resource(Pod, 'red').patch('changing', { type: 'merge', patch: { metadata: { labels: { app: 'client' } } } });
    await world.until(async () => (await reach(changing)) === 'server');
    await world.client.resource(Pod, 'red').patch('changing', { type: 'merge', patch: { metadata: { labels: { app: 'stranger' } } } });
    await world.until(async () => (await reach(changing)) === undefined);
  });

  it('follow the labels of namespaces', async () => {
    const guest = await world.pod('pink', 'guest');
    const from = [{ namespaceSelector: { matchLabels: { trusted: 'yes' } } }];
    await world.policy('red', 'trusted', { podSelector: {}, ingress: [{ from }] });
    await world.until(async () => (await reach(guest)) === undefined);
    await world.client.resource(Namespace).patch('pink', { type: 'merge', patch: { metadata: { labels: { trusted: 'yes' } } } });
    await world.until(async () => (await reach(guest)) === 'server');
    await world.client.resource(Namespace).patch('pink', { type: 'merge', patch: { metadata: { labels: { trusted: null } } } });
    await world.until(async () => (await reach(guest)) === undefined);
  });

  it('hold for a new Pod before it is attached, whatever the watch has told', async () => {
    for (let round = 0; round < 5; round++) {
      await world.policy('red', `late-${round}`, { podSelector: { matchLabels: { late: String(round) } }, policyTypes: ['Egress'] });
      const late = await world.pod('red', `late-${round}`, { labels: { late: String(round) } });
      expect(await reach(late)).toBeUndefined();
    }
  });

  it('hold for both ends: the egress of one and the ingress of the other', async () => {
    await world.policy('red', 'allow-in', ALLOW_CLIENT);
    await world.policy('red', 'deny-out', { podSelector: { matchLabels: { app: 'client' } }, policyTypes: ['Egress'] });
    await world.until(async () => (await reach()) === undefined);
    await world.policy('red', 'allow-out', {
      podSelector: { matchLabels: { app: 'client' } },
      policyTypes: ['Egress'],
      egress: [{ to: [{ podSelector: { matchLabels: { app: 'server' } } }], ports: [{ port: 80 }] }],
    });
    await world.until(async () => (await reach()) === 'server');
  });

  it('stop pings with everything else, and let them through with all ports only', async () => {
    const ping = (): boolean => {
      try {
        inNamespace(client.place, () => execFileSync('busybox', ['ping', '-c', '1', '-W', '1', server.address], { stdio: 'ignore' }));
        return true;
      } catch {
        return false;
      }
    };
    await world.until(ping);
    await world.policy('red', 'tcp-only', { podSelector: { matchLabels: { app: 'server' } }, ingress: [{ ports: [{ protocol: 'TCP' }] }] });
    await world.until(() => !ping());
    expect(await reach(client, 3000)).toBe('server');
  });

  it('tell about what they stopped: an Event on the Pod and a metric', async () => {
    await world.policy('red', 'deny', DENY_SERVER);
    await world.until(async () => (await reach()) === undefined);
    await world.until(async () => {
      const { items } = await world.client.resource(Event, 'red').list();
      return items.some(
        ({ reason, note, regarding }) =>
          reason === 'NetworkPolicyDenied' &&
          regarding?.name === 'server' &&
          note === `Denied TCP port 80 from ${client.address} (Pod client): no ingress rule of NetworkPolicy deny allows it`,
      );
    }, 15_000);
    expect(metrics.expose()).toMatch(/tenantry_network_policy_denied_packets_total\{namespace="red",direction="ingress"\} [1-9]/);
  });

  it('hold on while the agent restarts, also those that changed meanwhile', async () => {
    await world.policy('red', 'deny', DENY_SERVER);
    await world.until(async () => (await reach()) === undefined);
    await world.network.stop();
    expect(await reach()).toBeUndefined();
    await world.policy('red', 'allow', ALLOW_CLIENT);
    await world.restart();
    expect(await reach(client, 3000)).toBe('server');
    await world.removePolicy('red', 'allow');
    await world.until(async () => (await reach()) === undefined);
  });
});
