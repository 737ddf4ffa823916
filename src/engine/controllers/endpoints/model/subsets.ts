import { isConditionTrue } from '../../../../kube/conditions.ts';
import type { Json } from '../../../../kube/object.ts';
import {
  addressesOf,
  addressTypes,
  hasEndpoint,
  hostnameOf,
  portsOf,
  type PodObject,
  type ServiceObject,
} from '../../endpoint-slice/endpoints-of.ts';

/** More addresses do not fit one object. */
const MAX_ADDRESSES = 1000;

export interface Subset {
  addresses?: Json[];
  notReadyAddresses?: Json[];
  ports?: Json[];
}

interface PodAddress {
  address: Json;
  ready: boolean;
  ports: Json[];
}

/** Where a Service leads in the old form: addresses that offer the same ports stand together. */
export function subsetsOf(service: ServiceObject, pods: Iterable<PodObject>): Subset[] {
  const addresses = [...pods].flatMap((pod) => addressOf(service, pod) ?? []).sort(byAddress);
  if ((service.spec?.ports ?? []).length === 0) {
    return service.spec?.clusterIP === 'None' && addresses.length > 0 ? [subset(addresses, undefined)] : [];
  }
  // Ports that exactly the same addresses offer share a subset.
  const byPort = new Map<string, { port: Json; offered: PodAddress[] }>();
  for (const one of addresses) {
    for (const port of one.ports) {
      const id = JSON.stringify(port);
      const known = byPort.get(id);
      if (known) known.offered.push(one);
      else byPort.set(id, { port, offered: [one] });
    }
  }
  const bySet = new Map<string, { ports: Json[]; offered: PodAddress[] }>();
  for (const { port, offered } of byPort.values()) {
    const id = offered.map(({ address }) => `${address.ip} ${address.targetRef.uid}`).join();
    const known = bySet.get(id);
    if (known) known.ports.push(port);
    else bySet.set(id, { ports: [port], offered });
  }
  return [...bySet.values()].map(({ ports, offered }) => subset(offered, ports.sort(byName)));
}

function subset(addresses: readonly PodAddress[], ports: Json[] | undefined): Subset {
  const ready = addresses.filter((one) => one.ready).map(({ address }) => address);
  const notReady = addresses.filter((one) => !one.ready).map(({ address }) => address);
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports && { ports }),
  };
}

function addressOf(service: ServiceObject, pod: PodObject): PodAddress | undefined {
  const { metadata, spec, status } = pod;
  const all = service.spec?.publishNotReadyAddresses === true;
  if (!hasEndpoint(pod) || (metadata.deletionTimestamp !== undefined && !all)) return undefined;
  const [family] = addressTypes(service);
  const ip = family && addressesOf(status, family)[0];
  if (!ip) return undefined;
  const hostname = hostnameOf(service, spec);
  const { namespace, name, uid } = metadata;
  return {
    address: {
      ip,
      ...(hostname && { hostname }),
      ...(spec?.nodeName && { nodeName: spec.nodeName }),
      targetRef: { kind: 'Pod', namespace, name, uid },
    },
    ready: all || isConditionTrue(status?.conditions, 'Ready'),
    ports: portsOf(service, pod).map(({ name: portName, ...port }) => ({ ...(portName && { name: portName }), ...port })),
  };
}

/** At most as many as fit, those that are ready first. @returns whether some were left out */
export function truncate(subsets: Subset[]): boolean {
  let room = MAX_ADDRESSES;
  let cut = false;
  for (const field of ['addresses', 'notReadyAddresses'] as const) {
    for (const one of subsets) {
      const list = one[field];
      if (!list) continue;
      if (list.length > room) {
        cut = true;
        one[field] = list.slice(0, room);
      }
      room -= one[field]!.length;
      if (one[field]!.length === 0) delete one[field];
    }
  }
  for (let i = subsets.length - 1; i >= 0; i--) if (!subsets[i].addresses && !subsets[i].notReadyAddresses) subsets.splice(i, 1);
  return cut;
}

function byAddress(a: PodAddress, b: PodAddress): number {
  const [x, y] = [`${a.address.ip} ${a.address.targetRef.uid}`, `${b.address.ip} ${b.address.targetRef.uid}`];
  return x < y ? -1 : x > y ? 1 : 0;
}

function byName(a: Json, b: Json): number {
  const [x, y] = [`${a.name ?? ''} ${a.port}`, `${b.name ?? ''} ${b.port}`];
  return x < y ? -1 : x > y ? 1 : 0;
}
