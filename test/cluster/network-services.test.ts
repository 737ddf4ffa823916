import { request } from 'node:https';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointSlice, Service } from '../../src/client/kinds.ts';
import { bindUdp, connectTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import type { Json } from '../../src/kube/object.ts';
import { World, type WorldPod } from './network-world.ts';

let world: World;
let client: WorldPod;
const backends: WorldPod[] = [];
beforeAll(async () => {
  world = await World.start();
  await world.namespace('shop');
  client = await world.pod('shop', 'client');
  for (const name of ['one', 'two']) {
    const pod = await world.pod('shop', name, { labels: { app: 'shop' }, ports: [{ name: 'http', containerPort: 8080 }] });
    await world.listen(pod, 8080);
    await world.listenUdp(pod, 8080);
    backends.push(pod);
  }
}, 120_000);
afterAll(() => world.close());

async function service(name: string, spec: Json): Promise<{ clusterIP: string; spec: Json }> {
  const created = await world.client.resource(Service, 'shop').create({ metadata: { name, namespace: 'shop' }, spec });
  return { clusterIP: created.spec!.clusterIP!, spec: created.spec };
}

/** Endpoints by hand, so that the test decides when they come and go. */
async function endpoints(
  name: string,
  port: Json,
  addresses: { address: string; ready?: boolean; terminating?: boolean }[],
): Promise<void> {
  await world.client.resource(EndpointSlice, 'shop').apply(
    {
      metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [port],
      endpoints: addresses.map(({ address, ready = true, terminating = false }) => ({
        addresses: [address],
        conditions: { ready, serving: true, terminating },
      })),
    },
    { fieldManager: 'test', force: true },
  );
}

const soon = (from: WorldPod | undefined, ip: string, port: number): Promise<string | undefined> =>
  world.ask(from, ip, port, 1000).catch(() => undefined);

describe('Services', () => {
  it('spread connections over the endpoints that are ready, from Pods and from the machine', async () => {
    const { clusterIP } = await service('web', { selector: { app: 'shop' }, ports: [{ port: 80, targetPort: 'http' }] });
    await world.until(async () => (await soon(client, clusterIP, 80)) !== undefined);
    for (const from of [client, undefined]) {
      const answers = new Set<string | undefined>();
      for (let i = 0; i < 30; i++) answers.add(await world.ask(from, clusterIP, 80, 1000));
      expect(answers).toEqual(new Set(['one', 'two']));
    }
  });

  it('lead a Pod to itself, too', async () => {
    const { clusterIP } = await service('self', { ports: [{ port: 80, targetPort: 8080 }] });
    await endpoints('self', { name: '', port: 8080, protocol: 'TCP' }, [{ address: backends[0].address }]);
    await world.until(async () => (await soon(client, clusterIP, 80)) === 'one');
    expect(await world.ask(backends[0], clusterIP, 80, 1000)).toBe('one');
  });

  it('keep a client with its endpoint when they have affinity', async () => {
    const spec = { selector: { app: 'shop' }, sessionAffinity: 'ClientIP', ports: [{ port: 80, targetPort: 8080 }] };
    const { clusterIP } = await service('sticky', spec);
    await world.until(async () => (await soon(client, clusterIP, 80)) !== undefined);
    for (const from of [client, ...backends]) {
      const answers = new Set<string | undefined>();
      for (let i = 0; i < 12; i++) answers.add(await world.ask(from, clusterIP, 80, 1000));
      expect(answers.size).toBe(1);
    }
  });

  it('refuse connections at once when there are no endpoints, and when there is no such port', async () => {
    const { clusterIP } = await service('empty', { ports: [{ port: 80 }] });
    for (const from of [client, undefined]) {
      await expect(world.ask(from, clusterIP, 80, 3000)).rejects.toThrow('ECONNREFUSED');
      await expect(world.ask(from, clusterIP, 81, 3000)).rejects.toThrow('ECONNREFUSED');
    }
  });

  it('follow their endpoints, and fall back to those that are ending', async () => {
    const { clusterIP } = await service('moving', { ports: [{ port: 80, targetPort: 8080 }] });
    const port = { name: '', port: 8080, protocol: 'TCP' };
    await endpoints('moving', port, [{ address: backends[0].address }]);
    await world.until(async () => (await soon(client, clusterIP, 80)) === 'one');
    await endpoints('moving', port, [{ address: backends[1].address }, { address: backends[0].address, ready: false, terminating: true }]);
    await world.until(async () => (await soon(client, clusterIP, 80)) === 'two');
    for (let i = 0; i < 10; i++) expect(await world.ask(client, clusterIP, 80, 1000)).toBe('two');
    await endpoints('moving', port, [{ address: backends[0].address, ready: false, terminating: true }]);
    await world.until(async () => (await soon(client, clusterIP, 80)) === 'one');
    await world.client.resource(EndpointSlice, 'shop').delete('moving');
    await world.until(async () => (await soon(client, clusterIP, 80)) === undefined);
  });

  it('move UDP clients to another endpoint when theirs goes, even those that never pause', async () => {
    const { clusterIP } = await service('udp', { ports: [{ port: 53, targetPort: 8080, protocol: 'UDP' }] });
    const port = { name: '', port: 8080, protocol: 'UDP' };
    await endpoints('udp', port, [{ address: backends[0].address }]);
    const socket = await bindUdp(client.place, { address: '0.0.0.0', port: 0 });
    let last = '';
    socket.on('message', (answer) => (last = answer.toString()));
    const timer = setInterval(() => socket.send('?', 53, clusterIP, () => {}), 20);
    await world.until(() => last === 'one');
    await endpoints('udp', port, [{ address: backends[1].address }]);
    await world.until(() => last === 'two');
    clearInterval(timer);
    socket.close();
  });

  it('bring Pods to the API server, whose certificate names its Service', async () => {
    const ca = readFileSync(join(world.engine.data, 'pki/ca.crt'), 'utf8');
    const socket = await connectTcp(client.place, { address: '10.0.0.1', port: 443 });
    const version = await new Promise<string>((resolve, reject) => {
      const options = {
        host: 'kubernetes.default.svc',
        path: '/version',
        ca,
        createConnection: () => connectTls({ socket, ca, servername: 'kubernetes.default.svc' }),
      };
      request(options as never, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => resolve(text));
      })
        .on('error', reject)
        .end();
    });
    expect(JSON.parse(version)).toMatchObject({ major: '1' });
    socket.destroy();
  });

  it('are open on node ports of the machine, TCP and UDP, through policies', async () => {
    const { spec } = await service('outside', {
      type: 'NodePort',
      selector: { app: 'shop' },
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'dgram', port: 80, targetPort: 8080, protocol: 'UDP' },
      ],
    });
    const [tcp, udp] = (spec.ports as Json[]).map(({ nodePort }) => nodePort as number);
    await world.until(async () => (await soon(undefined, '127.0.0.1', tcp)) !== undefined);
    const answers = new Set<string | undefined>();
    for (let i = 0; i < 20; i++) answers.add(await world.ask(undefined, '127.0.0.1', tcp, 1000));
    expect(answers).toEqual(new Set(['one', 'two']));
    expect(['one', 'two']).toContain(await world.askUdp(undefined, '127.0.0.1', udp, 1000));
    // What comes from outside is not the machine itself: policies hold for it.
    await world.policy('shop', 'inside-only', {
      podSelector: { matchLabels: { app: 'shop' } },
      ingress: [{ from: [{ podSelector: {} }] }],
    });
    await world.until(async () => (await world.ask(undefined, '127.0.0.1', tcp, 300).catch(() => undefined)) === undefined);
    expect(['one', 'two']).toContain(await world.ask(undefined, backends[0].address, 8080, 3000));
    await world.removePolicy('shop', 'inside-only');
    await world.client.resource(Service, 'shop').delete('outside');
    await world.until(async () => {
      try {
        await world.ask(undefined, '127.0.0.1', tcp, 300);
        return false;
      } catch {
        return true;
      }
    });
  });

  it('are not needed for a port of the machine that leads to one Pod', async () => {
    const pod = await world.pod('shop', 'fixed', { ports: [{ name: 'http', containerPort: 8080, hostPort: 8888 }] });
    await world.listen(pod, 8080);
    await world.until(async () => (await soon(undefined, '127.0.0.1', 8888)) === 'fixed');
    await world.network.detach(pod.uid);
    await expect(world.ask(undefined, '127.0.0.1', 8888, 3000)).rejects.toThrow('ECONNREFUSED');
  });

  it('are seen by policies as the Pods behind them', async () => {
    const { clusterIP } = await service('judged', { selector: { app: 'shop' }, ports: [{ port: 80, targetPort: 8080 }] });
    await world.until(async () => (await soon(client, clusterIP, 80)) !== undefined);
    await world.policy('shop', 'only-8080', {
      podSelector: { matchLabels: { app: 'shop' } },
      ingress: [{ ports: [{ port: 8080 }] }],
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await soon(client, clusterIP, 80)).toBeDefined();
    await world.policy('shop', 'no-way-out', { podSelector: {}, policyTypes: ['Egress'], egress: [{ ports: [{ port: 80 }] }] });
    await world.until(async () => (await world.ask(client, clusterIP, 80, 150).catch(() => undefined)) === undefined);
    await world.removePolicy('shop', 'no-way-out');
    await world.removePolicy('shop', 'only-8080');
  });
});
