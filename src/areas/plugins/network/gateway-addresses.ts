import type { KubeObject } from '../../../kube/object.ts';
import type { BackendAddress } from './network-policies.ts';

interface Slice {
  endpoints?: { addresses?: string[]; targetRef?: { kind?: string } }[];
  ports?: { port?: number }[];
}

/** Where the gateway is, when it is no Pod: rules that name Pods would not find it. */
export function gatewayAddresses(slices: Iterable<KubeObject>): BackendAddress[] {
  return [...slices].flatMap((slice) => {
    const { endpoints = [], ports = [] } = slice as unknown as Slice;
    const outside = endpoints.filter(({ targetRef }) => targetRef?.kind !== 'Pod').flatMap(({ addresses = [] }) => addresses);
    return outside.flatMap((address) => ports.flatMap(({ port }) => (port === undefined ? [] : [{ cidr: cidrOf(address), port }])));
  });
}

function cidrOf(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
