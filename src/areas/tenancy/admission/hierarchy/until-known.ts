import type { Client } from '../../../../client/client.ts';
import { Namespace } from '../../../../client/kinds.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';

/** How long a watch may be behind the API server before a question about a new namespace is answered with "not yet". */
const PATIENCE_MS = 1000;

/** Waits until the forest knows those of the namespaces that exist, or patience ends. */
export async function untilKnown(forest: ReadonlyForest, client: Client, names: readonly string[], signal: AbortSignal): Promise<void> {
  for (const name of names) {
    if (forest.get(name) || !(await exists(client, name, signal)) || forest.get(name)) continue;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stop();
        timer.cancel();
        resolve();
      };
      const stop = forest.onChange((changed) => {
        if (changed.includes(name) && forest.get(name)) done();
      });
      const timer = client.clock.setTimer(PATIENCE_MS, done);
    });
  }
}

async function exists(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.metadata(Namespace).get(name, { signal });
    return true;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false;
    throw error;
  }
}
