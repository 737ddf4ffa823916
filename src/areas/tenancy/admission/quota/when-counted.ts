import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import { isOwnController } from '../platform-users.ts';

/**
 * Lets nothing new into a namespace before its quotas count: an API server that knows of no ResourceQuota there lets in anything. What
 * our own controllers make, the quotas themselves among it, waits for nothing.
 */
export function whenCounted(quotas: { ready(namespace: string): Promise<void> | undefined }, handler: AdmissionHandler): AdmissionHandler {
  return (request, signal) => {
    const { operation, namespace, userInfo } = request;
    const waiting = operation === 'CREATE' && namespace !== undefined && !isOwnController(userInfo) ? quotas.ready(namespace) : undefined;
    return waiting ? waiting.then(() => handler(request, signal)) : handler(request, signal);
  };
}
