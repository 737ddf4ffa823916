import type { ResourceClient } from '../../client/resource-client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Session } from './session.ts';

export interface Waiting<T> {
  isDone(object: T): boolean;
  /** What it waits for, told in passing. */
  waitsFor(object: T): string;
  timeoutMs: number;
  /** What it is, and the command that shows it: `tenant "acme"`, `tenantry tenant get acme`. */
  what: string;
  shownBy: string;
}

/** Watches an object until it is as wanted. @returns undefined when it is gone */
export async function waitForObject<T extends KubeObject>(
  session: Session,
  resource: ResourceClient<T>,
  name: string,
  { isDone, waitsFor, timeoutMs, what, shownBy }: Waiting<T>,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(timeoutMs);
  let said = '';
  const tell = (object: T) => {
    const waiting = waitsFor(object);
    if (waiting !== said && session.errIsTerminal) session.err(`${waiting}\n`);
    said = waiting;
  };
  try {
    // From its present state on: a watch alone would never tell of one that is gone already.
    const first = await resource.get(name, { signal });
    if (isDone(first)) return first;
    tell(first);
    const { resourceVersion } = first.metadata;
    for await (const update of resource.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion, signal })) {
      if (update.type === 'DELETED') return undefined;
      if (!('object' in update)) continue;
      if (isDone(update.object)) return update.object;
      tell(update.object);
    }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    if (!signal.aborted) throw error;
    const state = said || 'nothing happened';
    throw new Error(`Cannot wait any longer for ${what}: ${state}; \`${shownBy}\` shows how it is`, { cause: error });
  }
  return undefined;
}
