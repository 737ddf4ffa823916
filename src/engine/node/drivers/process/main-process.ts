import { readFile } from 'node:fs/promises';
import type { ContainerProcesses } from './container-processes.ts';

/**
 * The container's own program. In a sandbox the shim's child is bubblewrap; below it is the first process of the namespace, and below
 * that the program. Undefined while the sandbox is not complete, or not any more.
 */
export async function mainProcess(leader: number, sandboxed: boolean, processes: ContainerProcesses): Promise<number | undefined> {
  if (!sandboxed) return leader;
  const [first] = await childrenOf(leader, processes);
  if (first === undefined) return undefined;
  const [main] = await childrenOf(first, processes);
  return main;
}

/** In the order in which they were born: orphans that were taken in come last. */
async function childrenOf(pid: number, processes: ContainerProcesses): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => undefined);
  if (text !== undefined) return text.split(' ').filter(Boolean).map(Number);
  // Not every kernel keeps that list.
  return processes.childrenOf(pid);
}
