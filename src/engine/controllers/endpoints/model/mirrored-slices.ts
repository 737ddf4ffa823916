import { parseIp } from '../../../../kube/ip.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { ownerReference } from '../../../../kube/ownership.ts';

export const MIRROR_MANAGER = 'endpointslicemirroring-controller.k8s.io';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const SERVICE_NAME = 'kubernetes.io/service-name';
const NOT_COPIED = new Set(['endpoints.kubernetes.io/last-change-trigger-time', 'kubectl.kubernetes.io/last-applied-configuration']);
/** Of one subset; the rest is left out. */
const MAX_ADDRESSES = 1000;

/** The slices that say what hand-made Endpoints say: one per set of ports and family of addresses. */
export function mirroredSlices(endpoints: KubeObject): KubeObject[] {
  const slices = new Map<string, KubeObject>();
  for (const subset of endpoints.subsets ?? []) {
    const ports = (subset.ports ?? []).map(({ name = '', port, protocol = 'TCP', appProtocol }: Json) => ({
      name,
      port,
      protocol,
      ...(appProtocol !== undefined && { appProtocol }),
    }));
    const all = [
      ...(subset.addresses ?? []).map((address: Json) => endpointOf(address, true)),
      ...(subset.notReadyAddresses ?? []).map((address: Json) => endpointOf(address, false)),
    ].slice(0, MAX_ADDRESSES);
    for (const endpoint of all) {
      const addressType = parseIp(endpoint.addresses[0])?.version === 6 ? 'IPv6' : 'IPv4';
      const id = sliceId(addressType, ports);
      const known = slices.get(id);
      if (known) known.endpoints.push(endpoint);
      else slices.set(id, { ...emptySlice(endpoints), addressType, ports, endpoints: [endpoint] });
    }
  }
  return [...slices.values()];
}

export function sliceId(addressType: string, ports: Json[] | null | undefined): string {
  const texts = (ports ?? []).map(({ name, port, protocol, appProtocol }) => JSON.stringify([name ?? '', port, protocol, appProtocol]));
  return `${addressType} ${texts.sort().join()}`;
}

function endpointOf({ ip, hostname, nodeName, targetRef }: Json, ready: boolean): Json {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  };
}

function emptySlice(endpoints: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = endpoints.metadata;
  const copied = Object.entries(annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key));
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: { ...labels, [SERVICE_NAME]: name!, [MANAGED_BY]: MIRROR_MANAGER },
      ...(copied.length > 0 && { annotations: Object.fromEntries(copied) }),
      ownerReferences: [ownerReference(endpoints, { controller: true, blockOwnerDeletion: true })],
    },
  };
}
