import { once } from 'node:events';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { realClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { issueSelfSigned } from '../pki/certificate.ts';
import { generateKeys } from '../pki/key-files.ts';
import { TunnelAgent } from './tunnel-agent.ts';
import { TunnelServer } from './tunnel-server.ts';

let front: Http2SecureServer;
let behind: Server;
let tunnels: TunnelServer;
let agent: TunnelAgent;
const sockets = new Set<Socket>();

function selfSigned(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeys();
  const now = Date.now();
  const cert = issueSelfSigned(
    {
      subject: { commonName: 'tunnel', organizations: [] },
      publicKey,
      usages: ['digital signature', 'server auth', 'cert sign'],
      alternativeNames: { addresses: ['127.0.0.1'] },
      notBefore: new Date(now - 60_000),
      notAfter: new Date(now + 3_600_000),
      isAuthority: true,
    },
    privateKey,
  );
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

async function listening(server: Server | Http2SecureServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function connected(): Promise<void> {
  await expect.poll(() => tunnels.has('w1'), { timeout: 15_000 }).toBe(true);
}

beforeEach(async () => {
  const pair = selfSigned();
  tunnels = new TunnelServer(realClock);
  front = createSecureServer(pair);
  front.on('stream', (stream) => tunnels.accept(stream, 'w1'));
  front.on('sessionError', () => {});
  behind = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  const [frontPort, behindPort] = await Promise.all([listening(front), listening(behind)]);
  agent = new TunnelAgent({
    server: { address: '127.0.0.1', port: frontPort },
    tls: () => Promise.resolve({ ca: pair.cert, ...pair }),
    name: 'w1',
    addresses: ['10.0.1.12'],
    reach: (address) => (address === '10.0.1.12:10250' ? { host: '127.0.0.1', port: behindPort } : undefined),
    clock: realClock,
    random: Math.random,
    log: createLog({ level: 'error', format: 'json' }),
  });
  agent.start();
  await connected();
});

afterEach(() => {
  agent.stop();
  tunnels.close();
  front.close();
  behind.close();
  for (const socket of sockets) socket.destroy();
});

it('what is sent into a tunnel comes out at the other end, and back, however much it is', async () => {
  const connection = await tunnels.dial('w1', '10.0.1.12:10250');
  const sent = Buffer.alloc(9 * 1024 * 1024, 'tunnel');
  connection.write(sent);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of connection) {
    parts.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length >= sent.length) break;
  }
  expect(Buffer.concat(parts).equals(sent)).toBe(true);
});

it('connections do not meet in one tunnel, and each ends by itself', async () => {
  const [one, two] = await Promise.all([tunnels.dial('w1', '10.0.1.12:10250'), tunnels.dial('w1', '10.0.1.12:10250')]);
  one.write('one');
  two.write('two');
  expect(String((await once(one, 'data'))[0])).toBe('one');
  expect(String((await once(two, 'data'))[0])).toBe('two');
  one.end();
  await once(one, 'close');
  two.write('more');
  expect(String((await once(two, 'data'))[0])).toBe('more');
});

it('the end at the other side is an end here', async () => {
  const connection = await tunnels.dial('w1', '10.0.1.12:10250');
  connection.write('x');
  await once(connection, 'data');
  for (const socket of sockets) socket.end();
  connection.resume();
  await once(connection, 'end');
});

it.each([
  ['another address', 'w1', '10.0.1.13:10250', 'this node reaches only itself'],
  ['another port', 'w1', '10.0.1.12:22', 'this node reaches only itself'],
  ['a node without a tunnel', 'w2', '10.0.1.12:10250', 'No agent available'],
])('%s is not reached', async (_name, node, address, message) => {
  await expect(tunnels.dial(node, address)).rejects.toThrow(message);
});

it('a tunnel that is cut ends its connections and is made again', async () => {
  const connection = await tunnels.dial('w1', '10.0.1.12:10250');
  const failed = once(connection, 'error');
  tunnels.close();
  expect(String((await failed)[0])).toContain('the tunnel of node "w1" was closed');
  await connected();
  const again = await tunnels.dial('w1', '10.0.1.12:10250');
  again.write('again');
  expect(String((await once(again, 'data'))[0])).toBe('again');
});
