import { closeSync } from 'node:fs';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, createServer, Socket, type Server } from 'node:net';
import koffi from 'koffi';
import { inNamespace, libcFunction } from './namespaces.ts';

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2_000_000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;

const socketCall = libcFunction('int socket(int domain, int type, int protocol)');
const bindCall = libcFunction('int bind(int fd, const void *address, uint32_t length)');
const setOption = libcFunction('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)');

export interface Endpoint {
  address: string;
  port: number;
}

/** Where a socket lives; absent: in the namespace of this process. */
type Place = string | undefined;

export interface ConnectOptions {
  /** The source address to speak from. */
  localAddress?: string;
  timeoutMs?: number;
  /** The other side may end what it says and still be spoken to; whoever asks for this ends the socket itself. */
  allowHalfOpen?: boolean;
}

export function connectTcp(place: Place, { address, port }: Endpoint, options: ConnectOptions = {}): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket =
      place === undefined
        ? connect({ host: address, port, localAddress: options.localAddress, allowHalfOpen: options.allowHalfOpen })
        : openStream(place, address, options);
    const timer = setTimeout(
      () => fail(new Error(`Cannot connect to "${address}:${port}": no answer in time`)),
      options.timeoutMs ?? 10_000,
    );
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      // What passes here is in pieces that somebody waits for: the kernel would keep a small one back until the one before it was confirmed.
      socket.setNoDelay(true);
      resolve(socket);
    });
    if (place !== undefined) socket.connect({ host: address, port });
  });
}

function openStream(place: string, target: string, { localAddress, allowHalfOpen }: ConnectOptions): Socket {
  const fd = newSocket(place, SOCK_STREAM, target.includes(':') ? AF_INET6 : AF_INET);
  if (localAddress !== undefined) bindTo(fd, { address: localAddress, port: 0 });
  // `manualStart` is what Node itself uses for sockets that are not connected yet: reading from one would fail.
  return new Socket({ fd, allowHalfOpen, manualStart: true } as { fd: number });
}

export async function listenTcp(place: Place, { address, port }: Endpoint, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (place === undefined) server.listen({ host: address, port, exclusive: true }, resolve);
    else server.listen({ fd: boundSocket(place, SOCK_STREAM, { address, port }) }, resolve);
  });
  return server;
}

export async function bindUdp(place: Place, { address, port }: Endpoint): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    const bound = (): void => {
      socket.off('error', reject);
      resolve();
    };
    if (place === undefined) socket.bind({ address, port, exclusive: true }, bound);
    else socket.bind({ fd: boundSocket(place, SOCK_DGRAM, { address, port }) }, bound);
  });
  return socket;
}

function boundSocket(place: string, type: number, endpoint: Endpoint): number {
  const fd = newSocket(place, type);
  if (type === SOCK_STREAM) setOption(fd, SOL_SOCKET, SO_REUSEADDR, Buffer.from([1, 0, 0, 0]), 4);
  bindTo(fd, endpoint);
  return fd;
}

function newSocket(place: string, type: number, family = AF_INET): number {
  const fd = inNamespace(place, () => socketCall(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd < 0) throw new Error(`Cannot open a socket in "${place}": errno ${koffi.errno()}`);
  return fd;
}

function bindTo(fd: number, { address, port }: Endpoint): void {
  const target = Buffer.alloc(16);
  target.writeUInt16LE(AF_INET, 0);
  target.writeUInt16BE(port, 2);
  address.split('.').forEach((octet, i) => target.writeUInt8(Number(octet), 4 + i));
  if (bindCall(fd, target, target.length) === 0) return;
  const code = koffi.errno();
  closeSync(fd);
  throw Object.assign(new Error(`Cannot listen on "${address}:${port}": errno ${code}`), {
    code: code === koffi.os.errno.EADDRINUSE ? 'EADDRINUSE' : `E${code}`,
  });
}
