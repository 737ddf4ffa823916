import type { InformerSelection } from '../../../../../runtime/informer/shared-informers.ts';
import { bounded, keptMetadata } from '../../../workers/model/kept-objects.ts';
import { MAX, type ServiceObject, type SliceObject } from './wanted-balancers.ts';

export const SERVICE_NAME = 'kubernetes.io/service-name';

/** Services of the type LoadBalancer with their ports and ranges, counted together. */
export const MOST_OF_SERVICES = 10_000;
/** EndpointSlices with their endpoints and ports, counted together. */
export const MOST_OF_SLICES = 50_000;
/** A Service has no more than ours and one from outside, as we write them. */
const INGRESS_MAX = 3;

type Ingress = NonNullable<NonNullable<NonNullable<ServiceObject['status']>['loadBalancer']>['ingress']>[number];

/** One more of everything than is served shows that there are more. */
export function keptService({ apiVersion, kind, metadata, spec, status }: ServiceObject): ServiceObject {
  const { type, loadBalancerClass, loadBalancerIP, loadBalancerSourceRanges: ranges, sessionAffinity, externalTrafficPolicy } = spec ?? {};
  const ports = spec?.ports?.slice(0, MAX.ports + 1);
  const ingress = status?.loadBalancer?.ingress?.slice(0, INGRESS_MAX).map(keptIngress);
  return {
    apiVersion,
    kind,
    metadata: keptMetadata(metadata),
    spec: {
      type,
      sessionAffinity,
      externalTrafficPolicy,
      ...(loadBalancerClass === undefined ? {} : { loadBalancerClass: bounded(loadBalancerClass) }),
      ...(loadBalancerIP === undefined ? {} : { loadBalancerIP: bounded(loadBalancerIP) }),
      ...(!ranges ? {} : { loadBalancerSourceRanges: ranges.slice(0, MAX.sources + 1).map((range) => bounded(range)) }),
      ports: ports?.map(({ name, protocol, port, nodePort }) => ({ name: bounded(name), protocol, port, nodePort })),
    },
    ...(ingress && { status: { loadBalancer: { ingress } } }),
  };
}

/** What we would not have written so is something else, whatever it is. */
function keptIngress({ ip, ipMode, ...rest }: Ingress): Ingress {
  if (Object.keys(rest).length > 0) return { hostname: 'another' };
  return { ...(ip === undefined ? {} : { ip: bounded(ip) }), ...(ipMode === undefined ? {} : { ipMode: bounded(ipMode) }) };
}

/** Endpoints that are ready, by their first address, as kube-proxy takes them. */
export function keptSlice({ apiVersion, kind, metadata, addressType, endpoints, ports }: SliceObject): SliceObject | undefined {
  const service = metadata.labels?.[SERVICE_NAME];
  if (addressType !== 'IPv4' || service === undefined) return undefined;
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  return {
    apiVersion,
    kind,
    metadata: { ...keptMetadata(metadata), labels: { [SERVICE_NAME]: bounded(service) } },
    addressType,
    endpoints: ready.map(({ addresses, nodeName }) => ({
      addresses: addresses.slice(0, 1).map((address) => bounded(address)),
      ...(nodeName === undefined ? {} : { nodeName: bounded(nodeName) }),
    })),
    ports: ports?.map(({ name, port }) => ({ name: bounded(name), port })),
  };
}

export function serviceSelection(wake: () => void): InformerSelection<ServiceObject> {
  return {
    fieldSelector: 'spec.type=LoadBalancer',
    transform: keptService,
    ceiling: {
      weight: MOST_OF_SERVICES,
      weigh: ({ spec }) => 1 + (spec?.ports?.length ?? 0) + (spec?.loadBalancerSourceRanges?.length ?? 0),
      onChange: wake,
    },
  };
}

export function sliceSelection(wake: () => void): InformerSelection<SliceObject> {
  return {
    transform: keptSlice,
    ceiling: {
      weight: MOST_OF_SLICES,
      weigh: ({ endpoints, ports }) => 1 + (endpoints?.length ?? 0) + (ports?.length ?? 0),
      onChange: wake,
    },
  };
}
