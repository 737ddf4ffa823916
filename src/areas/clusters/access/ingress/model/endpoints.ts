import type { EndpointSlice, Service } from '../../../../../client/kinds.ts';
import type { Target } from './routes.ts';

type ServiceObject = NonNullable<(typeof Service)['objectType']>;
type SliceObject = NonNullable<(typeof EndpointSlice)['objectType']>;

export interface Endpoint {
  address: string;
  port: number;
}

/** The Pods that answer for a target now; undefined: there is no such Service, or not such a port of it. */
export function endpointsOf({ port }: Target, service: ServiceObject | undefined, slices: readonly SliceObject[]): Endpoint[] | undefined {
  // A name elsewhere could be anybody's, the platform's too.
  if (service === undefined || service.spec?.type === 'ExternalName') return undefined;
  const found = service.spec?.ports?.find((one) => (typeof port === 'number' ? one.port === port : one.name === port));
  if (found === undefined) return undefined;
  return slices
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap(({ endpoints, ports }) => {
      const target = ports?.find(({ name = '' }) => name === (found.name ?? ''))?.port;
      if (target === undefined) return [];
      const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
      return ready.flatMap(({ addresses }) => addresses.map((address) => ({ address, port: target })));
    });
}
