import type { EndpointSlice, Pod, Service } from '../../../client/kinds.ts';
import type { Container, ServicePort } from '../../../kube/generated/core-v1.ts';
import type { Endpoint, EndpointPort } from '../../../kube/generated/discovery-v1.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import { formatIp, parseIp } from '../../../kube/ip.ts';

export type ServiceObject = NonNullable<(typeof Service)['objectType']>;
export type PodObject = NonNullable<(typeof Pod)['objectType']>;
export type SliceObject = NonNullable<(typeof EndpointSlice)['objectType']>;
export type AddressType = 'IPv4' | 'IPv6';

/** Endpoints that share an address family and the same ports: they may stand in one slice. */
export interface EndpointGroup {
  addressType: AddressType;
  ports: EndpointPort[];
  endpoints: Endpoint[];
}

/** What is known of a node. */
export interface NodePlace {
  zone?: string;
}

/** Where the Service leads, in groups. A Pod whose node is not known leads nowhere, unless all of them are to be told. */
export function endpointGroups(
  service: ServiceObject,
  pods: Iterable<PodObject>,
  placeOf: (node: string) => NodePlace | undefined,
): EndpointGroup[] {
  const groups = new Map<string, EndpointGroup>();
  const types = addressTypes(service);
  for (const pod of pods) {
    if (!hasEndpoint(pod)) continue;
    const place = pod.spec?.nodeName ? placeOf(pod.spec.nodeName) : {};
    if (!place && !service.spec?.publishNotReadyAddresses) continue;
    const ports = portsOf(service, pod);
    for (const addressType of types) {
      const endpoint = endpointOf(service, pod, addressType, place?.zone);
      if (endpoint.addresses.length === 0) continue;
      const id = groupId(addressType, ports);
      const group = groups.get(id);
      if (group) group.endpoints.push(endpoint);
      else groups.set(id, { addressType, ports, endpoints: [endpoint] });
    }
  }
  return [...groups.values()];
}

export function groupId(addressType: string, ports: readonly EndpointPort[]): string {
  const texts = ports.map(({ name, protocol, port, appProtocol }) => JSON.stringify([name ?? '', protocol, port, appProtocol ?? '']));
  return `${addressType} ${texts.sort().join()}`;
}

export function addressTypes({ spec }: ServiceObject): AddressType[] {
  const families = spec?.ipFamilies ?? [];
  if (families.length > 0) return families.filter((family): family is AddressType => family === 'IPv4' || family === 'IPv6');
  return parseIp(spec?.clusterIP ?? '')?.bytes.length === 16 ? ['IPv6'] : ['IPv4'];
}

/** Pods that have ended or have no address yet lead nowhere. Those that are leaving stay, marked so. */
export function hasEndpoint({ status }: PodObject): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  return Boolean(status?.podIP) || (status?.podIPs?.length ?? 0) > 0;
}

function endpointOf(
  service: ServiceObject,
  { metadata, spec, status }: PodObject,
  addressType: AddressType,
  zone: string | undefined,
): Endpoint {
  const serving = isConditionTrue(status?.conditions, 'Ready');
  const terminating = metadata.deletionTimestamp !== undefined;
  const ready = Boolean(service.spec?.publishNotReadyAddresses) || (serving && !terminating);
  const hostname = hostnameOf(service, spec);
  return {
    addresses: addressesOf(status, addressType),
    conditions: { ready, serving, terminating },
    ...(hostname ? { hostname } : {}),
    ...(spec?.nodeName ? { nodeName: spec.nodeName } : {}),
    targetRef: { kind: 'Pod', namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
    ...(zone ? { zone } : {}),
  };
}

/** Pods that name the Service as their subdomain are found under names of their own. */
export function hostnameOf(service: ServiceObject, spec: PodObject['spec']): string | undefined {
  return spec?.hostname && spec.subdomain === service.metadata.name ? spec.hostname : undefined;
}

export function addressesOf(status: PodObject['status'], addressType: AddressType): string[] {
  const length = addressType === 'IPv6' ? 16 : 4;
  const texts = status?.podIPs?.length ? status.podIPs.map(({ ip }) => ip) : [status?.podIP];
  return texts.flatMap((text) => {
    const bytes = parseIp(text ?? '')?.bytes;
    return bytes?.length === length ? [formatIp(bytes)] : [];
  });
}

/** Ports of the Service as the Pod has them; those that it does not name are left out. */
export function portsOf({ spec }: ServiceObject, pod: PodObject): EndpointPort[] {
  const ports: EndpointPort[] = [];
  for (const servicePort of spec?.ports ?? []) {
    const port = targetPort(servicePort, pod);
    if (port === undefined) continue;
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    ports.push({ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) });
  }
  return ports;
}

function targetPort({ targetPort: target, port, protocol = 'TCP' }: ServicePort, { spec }: PodObject): number | undefined {
  if (target === undefined || target === 0 || target === '') return port;
  if (typeof target === 'number') return target;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }: Container) => restartPolicy === 'Always');
  for (const container of [...(spec?.containers ?? []), ...sidecars]) {
    for (const named of container.ports ?? []) {
      if (named.name === target && (named.protocol ?? 'TCP') === protocol) return named.containerPort;
    }
  }
  return undefined;
}
