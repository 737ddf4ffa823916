import { createRequire } from 'node:module';
import { getSystemErrorName } from 'node:util';

/** What Node cannot make: whiteouts, pipes, extended attributes. Paths are byte strings. */
export interface SpecialFiles {
  /** Device 0/0, which overlayfs reads as "nothing here". Anybody may make one. */
  makeWhiteout(path: string): void;
  makePipe(path: string, mode: number): void;
  /** Fails quietly where the filesystem or the kernel does not allow it: no image depends on it to start. */
  setAttribute(path: string, name: string, value: string): void;
}

const S_IFCHR = 0o020000;
const S_IFIFO = 0o010000;
const TOLERATED = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL']);

interface Libc {
  mknod(path: Buffer, mode: number, device: number): number;
  lsetxattr(path: Buffer, name: Buffer, value: Buffer, size: number, flags: number): number;
  errno(): number;
}

/** Loads the library at the first use: most layers have nothing special in them. */
export function specialFiles(): SpecialFiles {
  let libc: Libc | undefined;
  const node = (path: string, mode: number) => {
    libc ??= loadLibc();
    if (libc.mknod(cString(path), mode, 0) !== 0) throw systemError(libc.errno(), 'mknod', path);
  };
  return {
    makeWhiteout: (path) => node(path, S_IFCHR),
    makePipe: (path, mode) => node(path, S_IFIFO | mode),
    setAttribute(path, name, value) {
      libc ??= loadLibc();
      const bytes = Buffer.from(value, 'latin1');
      if (libc.lsetxattr(cString(path), cString(name), bytes, bytes.length, 0) === 0) return;
      const error = systemError(libc.errno(), 'lsetxattr', path);
      if (!TOLERATED.has(error.code!)) throw error;
    },
  };
}

function loadLibc(): Libc {
  // A synchronous import: this runs in a thread that does nothing else.
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  return {
    mknod: library.func('int mknod(const uint8_t *path, uint32_t mode, uint64_t device)'),
    lsetxattr: library.func('int lsetxattr(const uint8_t *path, const uint8_t *name, const uint8_t *value, size_t size, int flags)'),
    errno: () => koffi.errno(),
  };
}

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'latin1');
}

function systemError(errno: number, call: string, path: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, errno: -errno, syscall: call, path });
}
