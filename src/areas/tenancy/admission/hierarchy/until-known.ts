import type { Client } from '../../../../client/client.ts';
import { Namespace } from '../../../../client/kinds.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { isOwnController } from '../platform-users.ts';
import { notYetSynced } from './refusal.ts';

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

/** Lets nothing be judged in a namespace before it is known whose it is. Our own controllers know. */
export function whenKnown({ forest, client }: { forest: ReadonlyForest; client: Client }, handler: AdmissionHandler): AdmissionHandler {
  return async (request, signal) => {
    const { namespace, userInfo } = request;
    if (namespace === undefined || forest.get(namespace) || isOwnController(userInfo)) return handler(request, signal);
    await untilKnown(forest, client, [namespace], signal);
    // In one that does not exist, or no longer, the API server lets nobody write.
    const isMissing = !forest.get(namespace) && (await exists(client, namespace, signal));
    return isMissing ? notYetSynced(namespace) : handler(request, signal);
  };
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
