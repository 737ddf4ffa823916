import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import type { Child, Orphans } from '../children/child.ts';
import { startChild } from '../children/start-child.ts';
import { limitsItself, sandboxCommand, sandboxOptions, type Inside, type SandboxPlan } from './sandbox-command.ts';

/** What all sandboxes of a server are made with. */
export interface SandboxMeans {
  /** The file with the filter of system calls. */
  filter?: string;
  /** Where first processes of sandboxes go that lose their parent; absent: they must not. */
  orphans?: Orphans;
  env: Record<string, string>;
}

/** A sandbox, with something in it that waits to be told on descriptor 3 what to do. */
export interface Sandbox {
  /** Bubblewrap. */
  child: Child;
  /** Resolves when nothing is in it any more. */
  emptied: Promise<void>;
}

/** Of the first file that a sandbox is given. */
const FIRST_DESCRIPTOR = 4;
/** More than bubblewrap tells of a sandbox. */
const INFO_BYTES = 1024;

/** @param cgroupFiles by which it joins its cgroups */
export function startSandbox(
  shape: Omit<SandboxPlan, 'filterDescriptor' | 'cgroupDescriptors' | 'first'>,
  inside: Inside,
  cgroupFiles: readonly string[],
  { filter, orphans, env }: SandboxMeans,
): Sandbox {
  const files: number[] = [];
  const give = (descriptor: number) => FIRST_DESCRIPTOR + files.push(descriptor) - 1;
  const taking = limitsItself(inside) ? orphans : undefined;
  const info = taking?.pipe();
  const infoDescriptor = info && give(info.write);
  try {
    // Opened for each: who reads the filter reads on from where the one before stopped.
    const plan: SandboxPlan = {
      ...shape,
      filterDescriptor: filter === undefined ? undefined : give(openSync(filter, 'r')),
      cgroupDescriptors: cgroupFiles.map((file) => give(openSync(file, 'w'))),
    };
    if (taking !== undefined && infoDescriptor !== undefined) {
      const options = taking.pipe();
      plan.first = { optionsDescriptor: give(options.read), infoDescriptor };
      writeSync(options.write, sandboxOptions(plan).join('\0'));
      closeSync(options.write);
    }
    const child = startChild(sandboxCommand(plan, inside), { cwd: '/', env, listens: true, files });
    return { child, emptied: taking && info ? endOfAll(child, info.read, taking) : endOf(child) };
  } catch (error) {
    for (const descriptor of files) closeSync(descriptor);
    if (info !== undefined) closeSync(info.read);
    throw error;
  }
}

function endOf(child: Child): Promise<void> {
  return new Promise((resolve) => void child.once('error', () => resolve()).once('exit', () => resolve()));
}

/** Bubblewrap ends with the program. The first process of the sandbox, and with it all others, ends when it is made to. */
function endOfAll(child: Child, info: number, orphans: Orphans): Promise<void> {
  return new Promise((resolve) => {
    child.once('error', () => {
      closeSync(info);
      resolve();
    });
    child.once('exit', () => {
      const first = firstIn(info);
      closeSync(info);
      resolve(first === undefined ? undefined : orphans.end(first));
    });
  });
}

/** Undefined when bubblewrap did not get that far. */
function firstIn(info: number): number | undefined {
  const bytes = Buffer.alloc(INFO_BYTES);
  try {
    const [, pid] = /"child-pid": (\d+)/.exec(bytes.toString('latin1', 0, readSync(info, bytes))) ?? [];
    return pid === undefined ? undefined : Number(pid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** Ends it with all that is inside. */
export async function endSandbox({ child, emptied: isEmpty }: Sandbox): Promise<void> {
  if (!(await child.started)) return;
  signalSandbox(child, 'SIGKILL');
  await isEmpty;
}

/**
 * To the processes in the sandbox, not to bubblewrap, which would leave without them. The first one takes nothing but SIGKILL, by which
 * all go.
 */
export function signalSandbox(child: Child, signal: NodeJS.Signals): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (child.pid === undefined) return void child.once('spawn', () => signalSandbox(child, signal));
  const first = firstProcessOf(child.pid);
  try {
    if (first === undefined) process.kill(child.pid, 'SIGKILL');
    else process.kill(signal === 'SIGKILL' ? first : -first, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Undefined while the sandbox is being made. */
function firstProcessOf(bubblewrap: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${bubblewrap}/task/${bubblewrap}/children`, 'utf8').trim().split(' ').map(Number);
    return first || undefined;
  } catch {
    return undefined;
  }
}
