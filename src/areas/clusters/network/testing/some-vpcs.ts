import { macOf } from '../model/address-plan.ts';
import type { Port, Vpc } from '../model/vpc.ts';

/** A VPC with one subnet and no workers, apart from what is said about it. */
export function aVpc(name: string, changes: Partial<Vpc> = {}): Vpc {
  return {
    name,
    index: 1,
    mode: 'Overlay',
    subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }],
    ports: [],
    endpoints: [],
    services: [],
    routes: [],
    peers: [],
    egress: true,
    ...changes,
  };
}

export function aPort(name: string, address: string, changes: Partial<Port> = {}): Port {
  return { name, subnet: 'one', address, mac: macOf('test', address), attachment: { kind: 'Tap' }, ...changes };
}

export function named(...vpcs: Vpc[]): Map<string, Vpc> {
  return new Map(vpcs.map((vpc) => [vpc.name, vpc]));
}
