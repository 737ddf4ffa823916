import { Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { splitKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';

const NAMESPACE = 'kube-system';
const TYPE = 'bootstrap.kubernetes.io/token';

/** Removes bootstrap tokens when they expire. */
export function bootstrapTokenController({ client, clock, log, metrics, informers }: Environment): Running {
  const tokens = informers.get(Secret, {
    namespace: NAMESPACE,
    fieldSelector: `type=${TYPE}`,
    // The token itself has no business in a cache.
    transform: (secret) => ({ ...secret, data: { expiration: secret.data?.expiration ?? '' } }),
  });
  const controller = new Controller({
    name: 'bootstrap-token',
    clock,
    log,
    metrics,
    async reconcile(key, { signal }) {
      const token = tokens.get(key);
      const left = token && timeLeft(token, clock.now());
      if (token === undefined || left === undefined) return undefined;
      // A timer, because time passing changes nothing that a watch could see.
      if (left > 0) return { afterMs: left };
      const { namespace, name } = splitKey(key);
      try {
        await client.resource(Secret, namespace).delete(name, { preconditions: { uid: token.metadata.uid }, signal });
      } catch (error) {
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
      }
      return undefined;
    },
  });
  return controller.watch(tokens).start();
}

/** Milliseconds until it expires, not above 0 when it has; undefined when it never does. An unreadable time counts as expired. */
export function timeLeft(secret: KubeObject, now: number): number | undefined {
  const expiration = secret.data?.expiration;
  if (!expiration) return undefined;
  const at = Date.parse(Buffer.from(expiration, 'base64').toString('utf8'));
  return Number.isNaN(at) ? 0 : at - now;
}
