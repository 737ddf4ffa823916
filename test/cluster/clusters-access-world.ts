import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { vi } from 'vitest';
import { hexOf } from '../../src/areas/clusters/access/vpn/model/uapi.ts';
import { UapiSocket } from '../../src/areas/clusters/access/vpn/uapi-socket.ts';
import { issueSelfSigned } from '../../src/lib/pki/certificate.ts';
import { CLASS_IN, decodeMessage, encodeMessage, TYPE } from '../../src/lib/dns/message.ts';
import { bindUdp, connectTcp, listenTcp } from '../../src/engine/node/network/kernel/sockets.ts';

const SILENCE_MS = 800;

export const until = (met: () => Promise<unknown>): Promise<unknown> => vi.waitUntil(met, { timeout: 60_000, interval: 100 });

/** Namespaces beside the real machine: workers in the VPCs that the product makes, and somebody outside of them, one wire away. */
export class AccessWorld {
  readonly #id: string;
  readonly #namespaces: string[] = [];
  readonly #servers: Server[] = [];
  readonly #clients: ChildProcess[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  namespace(name: string): string {
    const namespace = `tta-${this.#id}-${name}`;
    execFileSync('ip', ['netns', 'add', namespace]);
    this.#namespaces.push(namespace);
    return `/run/netns/${namespace}`;
  }

  /** Somebody who sends to the machine whatever is for these addresses. */
  outsider(name: string, place: number, ranges: readonly string[]): string {
    const path = this.namespace(name);
    const link = `tta${this.#id}${place}`;
    const [machine, outside] = [`198.18.201.${4 * place + 1}`, `198.18.201.${4 * place + 2}`];
    this.ip(undefined, [
      `link add ${link} type veth peer name eth0 netns ${path}`,
      `address add ${machine}/30 dev ${link}`,
      `link set ${link} up`,
    ]);
    this.ip(path, [
      'link set lo up',
      `address add ${outside}/30 dev eth0`,
      'link set eth0 up',
      ...ranges.map((range) => `route add ${range} via ${machine}`),
    ]);
    return path;
  }

  ip(path: string | undefined, commands: readonly string[]): void {
    const input = `${commands.join('\n')}\n`;
    if (path === undefined) execFileSync('ip', ['-batch', '-'], { input });
    else execFileSync('nsenter', [`--net=${path}`, 'ip', '-batch', '-'], { input });
  }

  async listen(path: string, port: number, word: string): Promise<void> {
    this.#servers.push(await listenTcp(path, { address: '0.0.0.0', port }, (socket) => socket.on('error', () => {}).end(word)));
  }

  /** A web server that answers with its name. */
  async serve(path: string, port: number, word: string): Promise<void> {
    const web = createServer((_request, response) => void response.end(word));
    this.#servers.push(await listenTcp(path, { address: '0.0.0.0', port }, (socket) => web.emit('connection', socket)));
  }

  /** What a web server says over TLS to somebody who trusts this authority; what went wrong otherwise. */
  async browse(path: string, address: string, name: string, authority: string, target = '/'): Promise<string> {
    try {
      const socket = await connectTcp(path, { address, port: 443 }, { timeoutMs: SILENCE_MS });
      const secure = connectTls({ socket, servername: name, ca: authority });
      secure.write(`GET ${target} HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`);
      const chunks: Buffer[] = [];
      for await (const chunk of secure) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      return `${text.split(' ')[1]} ${text.split('\r\n\r\n')[1].trim().split('\r\n').at(-1)!.trim()}`;
    } catch (error) {
      return (error as { code?: string }).code ?? 'no answer';
    }
  }

  /** A registry of the platform, which only this machine reaches. */
  async registry(): Promise<string> {
    const type = 'application/vnd.oci.image.manifest.v1+json';
    const server = createServer((_request, response) => void response.setHeader('content-type', type).end('{"schemaVersion":2}'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    this.#servers.push(server);
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** What a plain web server says. */
  async get(path: string, address: string, port: number, target: string): Promise<string> {
    const socket = await connectTcp(path, { address, port }, { timeoutMs: 5000 });
    socket.write(`GET ${target} HTTP/1.1\r\nhost: ${address}\r\nconnection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    return `${text.split(' ')[1]} ${text.split('\r\n\r\n')[1]}`;
  }

  /** How a server of names answers. */
  async resolve(path: string, server: string, name: string): Promise<number> {
    const socket = await bindUdp(path, { address: '0.0.0.0', port: 0 });
    const query = encodeMessage({
      id: 7,
      response: false,
      opcode: 0,
      authoritative: false,
      truncated: false,
      recursionDesired: true,
      recursionAvailable: false,
      rcode: 0,
      questions: [{ name, type: TYPE.A, class: CLASS_IN }],
      answers: [],
      authority: [],
      additional: [],
    });
    // As resolvers do: a packet may be lost.
    let again: NodeJS.Timeout | undefined;
    try {
      const answered = once(socket, 'message', { signal: AbortSignal.timeout(30_000) });
      socket.send(query, 53, server);
      again = setInterval(() => socket.send(query, 53, server), 1000);
      return decodeMessage((await answered)[0] as Buffer).rcode;
    } finally {
      clearInterval(again);
      socket.close();
    }
  }

  /** A program in a namespace, until the end of the world. */
  run(path: string, command: readonly string[], env: Record<string, string>): ChildProcess {
    const child = spawn('nsenter', [`--net=${path}`, ...command], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
    this.#clients.push(child);
    return child;
  }

  async ask(path: string | undefined, address: string, port: number): Promise<string> {
    try {
      const socket = await connectTcp(path, { address, port }, { timeoutMs: SILENCE_MS });
      return await new Promise<string>((resolve) => {
        const timer = setTimeout(() => resolve('silence'), SILENCE_MS);
        socket.on('error', () => {});
        socket.once('data', (chunk) => (clearTimeout(timer), resolve(chunk.toString())));
        socket.once('close', () => (clearTimeout(timer), resolve('closed')));
      }).finally(() => socket.destroy());
    } catch (error) {
      return (error as { code?: string }).code ?? 'no answer';
    }
  }

  /** A client of a VPN gateway. */
  async dial(
    path: string,
    program: string,
    keys: ClientKeys,
    gateway: { publicKey: string; endpoint: string },
    address: string,
  ): Promise<void> {
    const link = `wgc${this.#id}${this.#clients.length}`;
    this.#clients.push(spawn('nsenter', [`--net=${path}`, program, '-f', link], { stdio: 'ignore' }));
    let socket: UapiSocket | undefined;
    await until(async () => {
      socket = await UapiSocket.open('/var/run/wireguard', `${link}.sock`, () => {}).catch(() => undefined);
      return socket !== undefined;
    });
    const peer = [
      `public_key=${hexOf(gateway.publicKey)}`,
      `endpoint=${gateway.endpoint}`,
      'persistent_keepalive_interval=1',
      'allowed_ip=0.0.0.0/0',
    ];
    await socket!.ask(`set=1\nprivate_key=${hexOf(keys.privateKey)}\n${peer.join('\n')}\n\n`);
    socket!.close();
    this.ip(path, [
      `address add ${address}/32 dev ${link}`,
      `link set ${link} up`,
      `route replace 10.0.1.0/24 dev ${link}`,
      `route replace 10.77.0.0/24 dev ${link}`,
    ]);
  }

  close(): void {
    for (const client of this.#clients) client.kill();
    for (const server of this.#servers) server.close();
    for (const namespace of this.#namespaces.toReversed()) execFileSync('ip', ['netns', 'delete', namespace]);
  }
}

export interface ClientKeys {
  privateKey: string;
  publicKey: string;
}

export function clientKeys(): ClientKeys {
  const { d, x } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const [privateKey, publicKey] = [d!, x!].map((part) => Buffer.from(part, 'base64url').toString('base64'));
  return { privateKey, publicKey };
}

/** A certificate for a name that vouches for itself, as the data of a Secret. */
export function webCertificate(name: string): Record<'tls.crt' | 'tls.key', string> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = issueSelfSigned(
    {
      subject: { commonName: name, organizations: [] },
      publicKey,
      usages: ['digital signature', 'cert sign', 'server auth'],
      isAuthority: true,
      notBefore: new Date('2026-01-01'),
      notAfter: new Date('2049-01-01'),
      alternativeNames: { dnsNames: [name] },
    },
    privateKey,
  );
  return { 'tls.crt': certificate, 'tls.key': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
