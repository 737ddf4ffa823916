import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { vi } from 'vitest';
import { hexOf } from '../../src/areas/clusters/access/vpn/model/uapi.ts';
import { UapiSocket } from '../../src/areas/clusters/access/vpn/uapi-socket.ts';
import { connectTcp, listenTcp } from '../../src/engine/node/network/kernel/sockets.ts';

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
      socket = await UapiSocket.open(join('/var/run/wireguard', `${link}.sock`), () => {}).catch(() => undefined);
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
