import { connect, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { ReplicaBalancer } from './replica-balancer.ts';

const servers: Server[] = [];
let balancer: ReplicaBalancer | undefined;

afterEach(() => {
  balancer?.close();
  for (const server of servers.splice(0)) server.close();
});

/** Says its address and stays. */
async function aServer(address: string, port: number): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).write(address));
  servers.push(server);
  server.listen(port, address);
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

async function ask(port: number): Promise<{ said: string; closed: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  const [said] = (await once(socket, 'data')) as [Buffer];
  return { said: said.toString(), closed };
}

it('ReplicaBalancer gives connections to who is ready and has the fewest, and to another when that one is gone', async () => {
  const port = await aServer('127.0.0.2', 0);
  await aServer('127.0.0.3', port);
  balancer = new ReplicaBalancer(port, ['127.0.0.2', '127.0.0.3', '127.0.0.4']);
  await balancer.listen(['127.0.0.1']);
  // Nobody listens at the last one: it is passed over.
  balancer.setReady(2, true);
  expect((await ask(port)).said).toBe('127.0.0.2');
  balancer.setReady(0, true);
  balancer.setReady(1, true);
  expect((await ask(port)).said).toBe('127.0.0.3');
  balancer.setReady(0, false);
  const one = await ask(port);
  expect(one.said).toBe('127.0.0.3');
  balancer.cut(1);
  await one.closed;
});
