import { resolveService } from '../../aggregator/service-address.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { ResolveService, ReviewHandler, ServiceReference } from './call.ts';

/**
 * Where the services of webhooks lead: to a function of this process for those that `inProcess` knows, which needs
 * no Service object, otherwise to a ready endpoint of the Service.
 */
export function serviceTargets(
  reader: ObjectReader,
  inProcess: (service: ServiceReference) => ReviewHandler | undefined = () => undefined,
  random: () => number = Math.random,
): ResolveService {
  return (service) => {
    const handler = inProcess(service);
    return handler ? { handler } : resolveService(reader, service, random);
  };
}
