import { readFile } from 'node:fs/promises';
import { getSystemErrorName } from 'node:util';
import { unescapeMountPath } from '../cgroups/cgroup-layout.ts';

/** mount(2) and umount2(2), off the event loop: an unmount may have to write back first. */
export interface MountCalls {
  mount(request: MountRequest): Promise<void>;
  /** Takes off everything that is mounted at this place; nothing there is fine. */
  unmount(target: string): Promise<void>;
}

export interface MountRequest {
  source: string;
  target: string;
  type: string;
  flags?: number;
  data?: string;
}

export class MountError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;

type Call = (...args: (string | number | null)[]) => Promise<{ result: number; code: string }>;

let calls: Promise<MountCalls> | undefined;

export function mountCalls(): Promise<MountCalls> {
  calls ??= load();
  return calls;
}

async function load(): Promise<MountCalls> {
  const { default: koffi } = await import('koffi');
  const library = koffi.load(null);
  const asynchronous = (declaration: string): Call => {
    const call = library.func(declaration);
    return (...args) =>
      new Promise((resolve, reject) => {
        call.async(...args, (error: Error | null, result: number) => {
          if (error) reject(error);
          else resolve({ result, code: result === 0 ? '' : getSystemErrorName(-koffi.errno()) });
        });
      });
  };
  const mount = asynchronous('int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)');
  const umount = asynchronous('int umount2(const char *target, int flags)');
  return {
    async mount({ source, target, type, flags = 0, data }) {
      const { result, code } = await mount(source, target, type, flags, data ?? null);
      if (result !== 0) throw new MountError(code, `Cannot mount ${type} at "${target}": ${code}.`);
    },
    async unmount(target) {
      for (;;) {
        const { result, code } = await umount(target, MNT_DETACH | UMOUNT_NOFOLLOW);
        if (result === 0) continue;
        if (code === 'EINVAL' || code === 'ENOENT') return;
        throw new MountError(code, `Cannot unmount "${target}": ${code}.`);
      }
    },
  };
}

/** What is mounted below a folder, the innermost first. */
export async function mountsBelow(folder: string): Promise<string[]> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => unescapeMountPath(line.split(' ')[4] ?? ''));
  return mounts.filter((target) => target.startsWith(`${folder}/`)).reverse();
}

/** Takes off everything that is mounted below a folder. */
export async function unmountBelow(folder: string): Promise<void> {
  for (const target of await mountsBelow(folder)) await (await mountCalls()).unmount(target);
}
