import { closeSync } from 'node:fs';
import type { LibraryHandle } from 'koffi';

const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC_NONBLOCK = 1 | 0o2000000 | 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
const MSG_CMSG_CLOEXEC = 0x4000_0000;

type AddressOf = (bytes: Buffer) => bigint;
type ReceiveMessage = (fd: number, message: Buffer, flags: number) => number;

/** A unix socket that takes file descriptors: how an OCI runtime hands over the terminal of a container. */
export function descriptorCalls(library: LibraryHandle, address: AddressOf) {
  const socket = library.func('int socket(int, int, int)');
  const bind = library.func('int bind(int, void *, uint)');
  const listen = library.func('int listen(int, int)');
  const accept4 = library.func('int accept4(int, void *, void *, int)');
  const recvmsg = library.func('long recvmsg(int, void *, int)');
  return {
    listenForTerminal(path: string): number {
      const fd = socket(AF_UNIX, SOCK_STREAM_CLOEXEC_NONBLOCK, 0);
      const name = socketName(path);
      if (fd < 0 || bind(fd, name, name.length) !== 0 || listen(fd, 1) !== 0) {
        if (fd >= 0) closeSync(fd);
        throw new Error(`Cannot listen on "${path}": the kernel refuses; check that its folder exists and is writable`);
      }
      return fd;
    },
    receiveTerminal(listening: number): number | undefined {
      // Never waits: the runtime connects and sends before it exits, and this is called after that.
      const connection = accept4(listening, null, null, SOCK_CLOEXEC);
      if (connection < 0) return undefined;
      try {
        return receive(recvmsg, connection, address);
      } finally {
        closeSync(connection);
      }
    },
  };
}

function receive(recvmsg: ReceiveMessage, connection: number, address: AddressOf): number | undefined {
  const data = Buffer.alloc(4096);
  const control = Buffer.alloc(64);
  if (recvmsg(connection, messageHeader(data, control, address), MSG_CMSG_CLOEXEC) <= 0) return undefined;
  // cmsghdr: length (8 bytes), level, type, then the descriptor.
  if (control.readInt32LE(8) !== SOL_SOCKET || control.readInt32LE(12) !== SCM_RIGHTS) return undefined;
  return control.readInt32LE(16);
}

/** sockaddr_un */
function socketName(path: string): Buffer {
  const name = Buffer.from(`\0\0${path}\0`);
  if (name.length > 110) throw new Error(`Cannot listen on "${path}": the path is longer than 107 bytes; use a shorter one`);
  name.writeUInt16LE(AF_UNIX, 0);
  return name;
}

/** msghdr of 64-bit Linux with one iovec behind it. */
function messageHeader(data: Buffer, control: Buffer, address: AddressOf): Buffer {
  const header = Buffer.alloc(56 + 16);
  header.writeBigUInt64LE(address(data), 56);
  header.writeBigUInt64LE(BigInt(data.length), 64);
  header.writeBigUInt64LE(address(header) + 56n, 16);
  header.writeBigUInt64LE(1n, 24);
  header.writeBigUInt64LE(address(control), 32);
  header.writeBigUInt64LE(BigInt(control.length), 40);
  return header;
}
