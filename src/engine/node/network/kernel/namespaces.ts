import { closeSync, openSync } from 'node:fs';
import koffi from 'koffi';

const CLONE_NEWNET = 0x4000_0000;

/** Where named network namespaces are mounted, as `ip netns` does it. */
export const NAMESPACE_FOLDER = '/run/netns';

export function namespacePath(name: string): string {
  return `${NAMESPACE_FOLDER}/${name}`;
}

/** A function of the C library, looked up when it is first called: systems without it never get that far. */
export function libcFunction(declaration: string): (...args: unknown[]) => number {
  let found: ((...args: unknown[]) => number) | undefined;
  return (...args) => (found ??= koffi.load(null).func(declaration) as (...args: unknown[]) => number)(...args);
}

const setns = libcFunction('int setns(int fd, int type)');

let home: number | undefined;

/**
 * Runs `work` with this thread inside a network namespace. Sockets and child processes made meanwhile stay there for life, which is what
 * makes one process able to speak in all of them. `work` must be synchronous: whatever else the thread did would happen there too.
 */
export function inNamespace<T>(path: string | undefined, work: () => T): T {
  if (path === undefined) return work();
  home ??= openSync('/proc/thread-self/ns/net', 'r');
  const target = openSync(path, 'r');
  try {
    if (setns(target, CLONE_NEWNET) !== 0) {
      throw new Error(`Cannot enter the network namespace "${path}": errno ${koffi.errno()}; run as root`);
    }
    try {
      return work();
    } finally {
      // A thread that cannot come back would go on in a Pod's network: nothing it does after that can be trusted.
      if (setns(home, CLONE_NEWNET) !== 0) process.abort();
    }
  } finally {
    closeSync(target);
  }
}
