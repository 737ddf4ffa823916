import type { GroupResource, Json, KubeObject } from '../../../kube/object.ts';
import { failure, notFoundError } from '../../../kube/status.ts';
import type { Destination } from '../outbound/outbound.ts';
import type { ObjectReader } from '../registry/objects.ts';

export interface ServicePortReference {
  namespace: string;
  name: string;
  port: number;
}

export type Address = Destination;

const SERVICES: GroupResource = { group: '', resource: 'services' };
const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };
const SLICES: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** What an EndpointSlice says, whether it came as one or as Endpoints. */
export interface EndpointGroup {
  ports: { name: string; port?: number }[];
  /** Each endpoint that is ready. */
  ready: { address: string; pod?: Destination['pod'] }[];
}

/** The endpoints of a service; from Endpoints when nobody made slices of them. */
export function endpointGroups(reader: ObjectReader, namespace: string, name: string): EndpointGroup[] {
  const slices = reader.list(SLICES, namespace).filter((slice) => slice.metadata.labels?.[SERVICE_NAME_LABEL] === name);
  if (slices.length > 0) return slices.map(fromSlice);
  const endpoints = reader.get(ENDPOINTS, namespace, name);
  return (endpoints?.subsets ?? []).map(fromSubset);
}

function fromSlice(slice: KubeObject): EndpointGroup {
  const endpoints: Json[] = slice.endpoints ?? [];
  return {
    ports: (slice.ports ?? []).map((port: Json) => ({ name: port.name ?? '', port: port.port })),
    ready: endpoints
      .filter((endpoint) => endpoint.conditions?.ready !== false)
      .map((endpoint) => ({ address: endpoint.addresses[0], pod: podOf(endpoint.targetRef) })),
  };
}

function podOf(reference: Json): Destination['pod'] {
  return reference?.kind === 'Pod' ? { namespace: reference.namespace, name: reference.name } : undefined;
}

function fromSubset(subset: Json): EndpointGroup {
  return {
    ports: (subset.ports ?? []).map((port: Json) => ({ name: port.name ?? '', port: port.port })),
    ready: (subset.addresses ?? []).map(({ ip, targetRef }: Json) => ({ address: ip, pod: podOf(targetRef) })),
  };
}

/**
 * Where to connect for a service: straight to one of its ready endpoints, as a machine outside the service network must.
 * @throws StatusError in Kubernetes' words.
 */
export function resolveService(reader: ObjectReader, reference: ServicePortReference, random: () => number): Address {
  const { namespace, name, port } = reference;
  const service = reader.get(SERVICES, namespace, name);
  if (!service) throw notFoundError({ group: '', resource: 'service' }, name);
  if (service.spec?.type === 'ExternalName') return { host: service.spec.externalName, port };
  const servicePort = (service.spec?.ports ?? []).find((candidate: Json) => candidate.port === port);
  if (!servicePort) throw failure('ServiceUnavailable', `no service port ${port} found for service "${name}"`);
  for (const group of shuffled(endpointGroups(reader, namespace, name), random)) {
    const found = group.ports.find((candidate) => candidate.name === (servicePort.name ?? '') && candidate.port !== undefined);
    if (!found || group.ready.length === 0) continue;
    const { address, pod } = group.ready[Math.floor(random() * group.ready.length)];
    return { host: address, port: found.port!, ...(pod && { pod }) };
  }
  throw failure('ServiceUnavailable', `no endpoints available for service "${name}"`);
}

function shuffled<T>(items: T[], random: () => number): T[] {
  if (items.length < 2) return items;
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
