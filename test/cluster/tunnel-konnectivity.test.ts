import { spawn, type ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { konnectivityArguments } from '../../src/areas/clusters/control-plane/kubernetes/model/program-arguments.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { issueCertificate, issueSelfSigned } from '../../src/lib/pki/certificate.ts';
import { generateKeys } from '../../src/lib/pki/key-files.ts';
import { PacketStream } from '../../src/lib/tunnel/packet-stream.ts';
import type { Packet } from '../../src/lib/tunnel/packets.ts';
import { TunnelAgent } from '../../src/lib/tunnel/tunnel-agent.ts';
import { binary } from './binaries.ts';

/** Our agent at the server that control planes of Kubernetes have, and in front of that what an API server would do. */
const NODE = '10.77.0.1';
const VALID = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
const root = generateKeys();
const authorityPem = issueSelfSigned(
  {
    subject: { commonName: 'kubernetes', organizations: [] },
    publicKey: root.publicKey,
    usages: ['digital signature', 'cert sign'],
    isAuthority: true,
    ...VALID,
  },
  root.privateKey,
);
const authority = { certificate: new X509Certificate(authorityPem), key: root.privateKey };

let folder: string;
let server: ChildProcess;
let behind: Server;
let agent: TunnelAgent;
let front: ClientHttp2Session;

function issued(commonName: string, organizations: string[], usage: 'client auth' | 'server auth'): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeys();
  const subject = { commonName, organizations };
  const alternativeNames = { addresses: ['127.0.0.1'] };
  const cert = issueCertificate({ subject, publicKey, usages: ['digital signature', usage], alternativeNames, ...VALID }, authority);
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  holder.close();
  await once(holder, 'close');
  return port;
}

/** A connection as an API server asks for it. @returns what came back for what was sent */
async function through(address: string, send: string): Promise<string> {
  const stream = front.request({ ':method': 'POST', ':path': '/ProxyService/Proxy', 'content-type': 'application/grpc', te: 'trailers' });
  return new Promise((resolve, reject) => {
    const packets: PacketStream = new PacketStream(stream, {
      end: (why) => reject(why ?? new Error('the stream ended')),
      packet: (packet: Packet) => {
        if (packet.type === 'DIAL_RSP' && packet.error !== '') reject(new Error(packet.error));
        if (packet.type === 'DIAL_RSP') packets.send({ type: 'DATA', connectId: packet.connectId, error: '', data: Buffer.from(send) });
        if (packet.type !== 'DATA') return;
        resolve(Buffer.from(packet.data).toString());
        packets.send({ type: 'CLOSE_REQ', connectId: packet.connectId });
      },
    });
    packets.send({ type: 'DIAL_REQ', protocol: 'tcp', address, random: 4_611_686_018_427_387_904n });
  });
}

beforeAll(async () => {
  const program = await binary('proxy-server');
  folder = mkdtempSync(join(tmpdir(), 'tenantry-tunnel-'));
  const serving = issued('konnectivity-server', [], 'server auth');
  writeFileSync(join(folder, 'ca.crt'), authorityPem);
  writeFileSync(join(folder, 'konnectivity-server.crt'), serving.cert);
  writeFileSync(join(folder, 'konnectivity-server.key'), serving.key);
  const socket = join(folder, 'front.sock');
  const [tunnelPort, admin, health] = [await freePort(), await freePort(), await freePort()];
  const place = { keys: folder, socket, listenAddress: '127.0.0.1', tunnelPort, innerPorts: [admin, health], servers: 1 };
  server = spawn(program, konnectivityArguments(place), { stdio: 'ignore' });
  await vi.waitUntil(() => existsSync(socket), { timeout: 60_000 });
  behind = createServer((peer) => peer.on('data', (data) => peer.write(`node: ${String(data)}`)).on('error', () => {}));
  behind.listen(0, '127.0.0.1');
  await once(behind, 'listening');
  const { port } = behind.address() as AddressInfo;
  agent = new TunnelAgent({
    server: { address: '127.0.0.1', port: tunnelPort },
    tls: () => Promise.resolve({ ca: authorityPem, ...issued('system:node:w1', ['system:nodes'], 'client auth') }),
    name: 'w1',
    addresses: [NODE],
    reach: (address) => (address === `${NODE}:10250` ? { host: '127.0.0.1', port } : undefined),
    clock: realClock,
    random: Math.random,
    log: silentLog,
  });
  agent.start();
  front = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
  front.on('error', () => {});
}, 600_000);
afterAll(async () => {
  agent?.stop();
  front?.destroy();
  behind?.close();
  if (server?.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

it('a connection through konnectivity-server arrives at the node of our agent', async () => {
  const said = await vi.waitUntil(() => through(`${NODE}:10250`, 'hello').catch(() => undefined), { timeout: 60_000, interval: 200 });
  expect(said).toBe('node: hello');
});

it('and nowhere else', async () => {
  await expect(through(`${NODE}:22`, 'hello')).rejects.toThrow('this node reaches only itself');
});

it('is made again after the server came back', async () => {
  const { spawnargs, spawnfile } = server;
  server.kill('SIGKILL');
  await once(server, 'exit');
  rmSync(join(folder, 'front.sock'), { force: true });
  server = spawn(spawnfile, spawnargs.slice(1), { stdio: 'ignore' });
  await vi.waitUntil(() => existsSync(join(folder, 'front.sock')), { timeout: 60_000 });
  front.destroy();
  front = connectHttp2('http://localhost', { createConnection: () => connect(join(folder, 'front.sock')) });
  front.on('error', () => {});
  const said = await vi.waitUntil(() => through(`${NODE}:10250`, 'again').catch(() => undefined), { timeout: 60_000, interval: 200 });
  expect(said).toBe('node: again');
});
