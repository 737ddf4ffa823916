import { ipv4Range } from '../../../../kube/ipv4-range.ts';
import type { BalancedPort, Vpc } from './vpc.ts';

/** One port of a load balancer at one of its addresses. */
export interface BalancedAddress {
  address: string;
  /** Whether it is the one that outsiders use. */
  isExternal: boolean;
  port: BalancedPort;
  sources: readonly string[];
  sticky: boolean;
}

const EVERYBODY = ['0.0.0.0/0'] as const;

/** Everything that is balanced in a VPC, one by one. */
export function balancedAddresses({ loadBalancers = [] }: Pick<Vpc, 'loadBalancers'>): BalancedAddress[] {
  return loadBalancers.flatMap(({ address, external, ports, sources, sticky }) =>
    ports.flatMap((port) =>
      [{ address, isExternal: false }, ...(external === undefined ? [] : [{ address: external, isExternal: true }])].map((at) => ({
        ...at,
        port,
        sources: sources.length === 0 ? EVERYBODY : outermost(sources),
        sticky,
      })),
    ),
  );
}

/** What the machine sends to the router of a VPC: who may reach which listener at which address from outside. */
export function externalListeners(vpc: Vpc): { address: string; protocol: 'tcp' | 'udp'; port: number; sources: readonly string[] }[] {
  const balanced = balancedAddresses(vpc)
    .filter(({ isExternal }) => isExternal)
    .map(({ address, port: { protocol, port }, sources }) => ({ address, protocol, port, sources }));
  const gateway =
    vpc.vpn === undefined ? [] : [{ address: vpc.vpn.external, protocol: 'udp' as const, port: vpc.vpn.port, sources: EVERYBODY }];
  return [...balanced, ...gateway];
}

/** The addresses outside of its subnets that are a VPC's. */
export function externalAddresses({ loadBalancers = [], vpn }: Pick<Vpc, 'loadBalancers' | 'vpn'>): string[] {
  const balanced = loadBalancers.flatMap(({ external }) => (external === undefined ? [] : [external]));
  return [...new Set([...balanced, ...(vpn === undefined ? [] : [vpn.external])])];
}

/** Ranges that are not inside of another: the kernel takes none that overlap. */
function outermost(cidrs: readonly string[]): string[] {
  const ranges = [...new Set(cidrs)].map((text) => ({ text, ...ipv4Range(text) }));
  return ranges
    .filter((one, position) =>
      ranges.every(
        (other, at) =>
          at === position ||
          other.first > one.first ||
          other.last < one.last ||
          (other.first === one.first && other.last === one.last && at > position),
      ),
    )
    .map(({ text }) => text);
}
