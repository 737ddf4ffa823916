import { getSystemErrorName } from 'node:util';
import { createRequire } from 'node:module';
import type { ChildOptions } from './child.ts';

const O_CLOEXEC = 0o2000000;
const O_NONBLOCK = 0o4000;
const O_RDONLY = 0;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x0100_0000;
const P_ALL = 0;
const PR_SET_CHILD_SUBREAPER = 36;
/** The status of one that was ended by SIGKILL. */
const KILLED = 9;
/** Of siginfo_t, which has 128 bytes: where the number of the process is, on machines with 64 bits. */
const SIGINFO_BYTES = 128;
const SIGINFO_PID = 16;
const ESRCH = 3;
/** Larger than the C library's own of any kind: it alone looks inside. */
const OPAQUE_BYTES = 1024;
/** POSIX_SPAWN_SETSIGDEF, POSIX_SPAWN_SETSIGMASK, POSIX_SPAWN_SETSID: Node ignores SIGPIPE, a program should not. */
const SPAWN_FLAGS = 0x04 | 0x08 | 0x80;

export interface PosixCalls {
  /** @param waits whether who reads from it, or writes to it, waits until that is possible */
  pipe(waits?: boolean): { read: number; write: number };
  /** Off the event loop. @param descriptors which of ours become which of the new process' */
  spawn(path: string, argv: string[], options: ChildOptions, descriptors: [ours: number, theirs: number][]): Promise<number>;
  /** The status of a child that has ended, as if killed when it is none of ours; undefined while it runs. */
  reap(pid: number): number | undefined;
  /** From now on those below us who lose their parent become our children. @returns whether that is so */
  adopt(): boolean;
  /** One of our children that has ended and was not reaped, whoever started it; undefined when there is none. */
  ended(): number | undefined;
  /** Nothing happens where there is nobody left. */
  kill(pid: number, signal: number): void;
}

type Call = ((...args: unknown[]) => number) & { async(...args: unknown[]): void };

/** @returns undefined where there is no such thing: another platform, or no native part of koffi for this one */
export function posixCalls(): PosixCalls | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return bind();
  } catch {
    return undefined;
  }
}

function bind(): PosixCalls {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  const call = (declaration: string) => library.func(declaration) as unknown as Call;
  const pipe2 = call('int pipe2(_Out_ int *descriptors, int flags)');
  const waitpid = call('int waitpid(int pid, _Out_ int *status, int options)');
  const waitid = call('int waitid(int type, int id, void *info, int options)');
  const kill = call('int kill(int pid, int signal)');
  const prctl = call('int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)');
  const info = Buffer.alloc(SIGINFO_BYTES);
  const spawn = call(
    'int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **env)',
  );
  const initActions = call('int posix_spawn_file_actions_init(void *actions)');
  const destroyActions = call('int posix_spawn_file_actions_destroy(void *actions)');
  const addDup = call('int posix_spawn_file_actions_adddup2(void *actions, int from, int to)');
  const addOpen = call(
    'int posix_spawn_file_actions_addopen(void *actions, int descriptor, const char *path, int flags, unsigned int mode)',
  );
  const addFolder = call('int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)');
  const attributes = spawnAttributes(call);
  return {
    pipe(waits = true) {
      const descriptors = [0, 0];
      if (pipe2(descriptors, waits ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK) !== 0) throw systemError('pipe', koffi.errno());
      return { read: descriptors[0], write: descriptors[1] };
    },
    spawn(path, argv, { cwd, env }, descriptors) {
      const actions = Buffer.alloc(OPAQUE_BYTES);
      initActions(actions);
      addFolder(actions, cwd);
      addOpen(actions, 0, '/dev/null', O_RDONLY, 0);
      for (const [ours, theirs] of descriptors) addDup(actions, ours, theirs);
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const pid = [0];
      return new Promise((resolve, reject) => {
        spawn.async(pid, path, actions, attributes, [...argv, null], [...variables, null], (failure: Error | null, code: number) => {
          destroyActions(actions);
          if (failure) reject(failure);
          else if (code !== 0) reject(systemError('spawn', code, path));
          else resolve(pid[0]);
        });
      });
    },
    reap(pid) {
      const status = [0];
      const found = waitpid(pid, status, WNOHANG);
      if (found === 0) return undefined;
      return found === pid ? status[0] : KILLED;
    },
    adopt: () => prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0,
    ended() {
      info.writeInt32LE(0, SIGINFO_PID);
      const found = waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT) === 0 ? info.readInt32LE(SIGINFO_PID) : 0;
      return found === 0 ? undefined : found;
    },
    kill(pid, signal) {
      if (kill(pid, signal) === 0 || koffi.errno() === ESRCH) return;
      throw systemError('kill', koffi.errno());
    },
  };
}

function spawnAttributes(call: (declaration: string) => Call): Buffer {
  const [attributes, all, none] = [OPAQUE_BYTES, OPAQUE_BYTES, OPAQUE_BYTES].map((size) => Buffer.alloc(size));
  call('int sigfillset(void *set)')(all);
  call('int sigemptyset(void *set)')(none);
  call('int posix_spawnattr_init(void *attributes)')(attributes);
  call('int posix_spawnattr_setsigdefault(void *attributes, void *set)')(attributes, all);
  call('int posix_spawnattr_setsigmask(void *attributes, void *set)')(attributes, none);
  call('int posix_spawnattr_setflags(void *attributes, short flags)')(attributes, SPAWN_FLAGS);
  return attributes;
}

export function systemError(syscall: string, errno: number, path?: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${syscall} ${path ?? ''} ${code}`), { code, errno, syscall, path });
}
