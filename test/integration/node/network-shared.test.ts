import { mkdtempSync, rmSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndpointSlice, Service } from '../../../src/client/kinds.ts';
import type { PodNetwork } from '../../../src/engine/node/network/pod-network.ts';
import { createSharedNetwork } from '../../../src/engine/node/network/shared-network.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';

let engine: InMemoryEngine;
let network: PodNetwork;
const dir = mkdtempSync(join(tmpdir(), 'tenantry-shared-'));
const make = (): PodNetwork =>
  createSharedNetwork({ client: engine.client, clock: realClock, log: silentLog, dir, reason: 'NotRoot', message: 'run as root' });
const servers: Server[] = [];
beforeAll(async () => {
  engine = await startInMemoryEngine();
  network = make();
  await network.start();
});
afterAll(async () => {
  for (const server of servers) server.close();
  await network.destroy();
  await engine.stop();
  rmSync(dir, { recursive: true, force: true });
});

const pod = (uid: string, spec: Json = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, namespace: 'default', uid },
  spec,
});

async function listen(address: string, text: string): Promise<number> {
  const server = createServer((socket) => socket.end(text));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return (server.address() as { port: number }).port;
}

function say(address: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('end', () => resolve(text));
    socket.on('error', () => resolve(undefined));
  });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('the network of the machine, shared by Pods', () => {
  it('says that policies are not enforced, and what to do', () => {
    expect(network.enforcesPolicies).toEqual({ status: false, reason: 'NotRoot', message: 'run as root' });
    expect([network.dns, network.podCidr]).toEqual([undefined, undefined]);
  });

  it('gives each Pod a loopback address for life, also over a restart', async () => {
    const [a, b] = [(await network.attach(pod('a'))).addresses, (await network.attach(pod('b'))).addresses];
    expect(a).not.toEqual(b);
    expect(a[0]).toMatch(/^127\./);
    const next = make();
    await next.start();
    expect((await next.attach(pod('b'))).addresses).toEqual(b);
    await next.cleanUp(new Set(['b']));
    await next.stop();
    expect((await network.attach(pod('host', { hostNetwork: true }))).addresses).toEqual(['127.0.0.1']);
  });

  it('dials the address of the Pod first, then localhost', async () => {
    const {
      addresses: [address],
    } = await network.attach(pod('dialled'));
    for (const at of [address, '127.0.0.1']) {
      const port = await listen(at, at);
      const stream = await network.dial({ namespace: 'default', name: 'dialled', uid: 'dialled' }, port);
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).toBe(at);
    }
    await expect(network.dial({ namespace: 'default', name: 'dialled', uid: 'dialled' }, 1)).rejects.toThrow('ECONNREFUSED');
  });

  it('opens node ports of Services and passes on what arrives, TCP and UDP', async () => {
    const [address] = (await network.attach(pod('served'))).addresses;
    const port = await listen(address, 'tcp answer');
    const udp = createSocket('udp4');
    await new Promise<void>((resolve) => udp.bind(port, address, resolve));
    udp.on('message', (_, from) => udp.send('udp answer', from.port, from.address));
    const created = await engine.client.resource(Service, 'default').create({
      metadata: { name: 'web' },
      spec: {
        type: 'NodePort',
        ports: [
          { name: 't', port: 80 },
          { name: 'u', port: 80, protocol: 'UDP' },
        ],
      },
    });
    const [tcpPort, udpPort] = created.spec!.ports!.map(({ nodePort }) => nodePort!);
    await engine.client.resource(EndpointSlice, 'default').create({
      metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [
        { name: 't', port },
        { name: 'u', port, protocol: 'UDP' },
      ],
      endpoints: [{ addresses: [address] }],
    });
    await until(async () => (await say('127.0.0.1', tcpPort)) === 'tcp answer');
    expect(await sayUdp('127.0.0.1', udpPort)).toBe('udp answer');
    udp.close();
    await engine.client.resource(Service, 'default').delete('web');
    await until(async () => (await say('127.0.0.1', tcpPort)) === undefined);
  });
});

function sayUdp(address: string, port: number): Promise<string> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.on('message', (answer) => {
      socket.close();
      resolve(answer.toString());
    });
    socket.send('?', port, address);
  });
}
