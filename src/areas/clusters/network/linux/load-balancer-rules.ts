import { createHash } from 'node:crypto';
import { balancedAddresses, type BalancedAddress } from '../model/balanced.ts';
import type { Vpc } from '../model/vpc.ts';
import { bridgeOf, UPLINK } from './names.ts';

/** Who may use which listener, as elements of a set: a source, and the mark of the listener's connections. */
export function balancedElements(vpc: Vpc): string[] {
  return balancedAddresses(vpc).flatMap((balanced) => balanced.sources.map((source) => `${source} . ${markOf(balanced)}`));
}

/** Listeners that nobody answers for at the moment. */
export function refusedElements(vpc: Vpc): string[] {
  return balancedAddresses(vpc)
    .filter(({ port }) => port.backends.length === 0)
    .map(({ address, port: { protocol, port } }) => `${address} . ${protocol} . ${port}`);
}

/** Connections get to one of the workers behind the address. What comes from outside knows only the external ones. */
export function destinationRules(vpc: Vpc): string[] {
  return balancedAddresses(vpc)
    .filter(({ port }) => port.backends.length > 0)
    .map((balanced) => {
      const { address, isExternal, port, sources } = balanced;
      return [
        ...(isExternal ? [] : [`iifname != "${UPLINK}"`]),
        ...(sources.includes('0.0.0.0/0') ? [] : [`ip saddr { ${sources.join(', ')} }`]),
        `ip daddr ${address} ${port.protocol} dport ${port.port}`,
        `ct mark set ${markOf(balanced)}`,
        `dnat ip ${choiceOf(balanced)}`,
      ].join(' ');
    });
}

function choiceOf({ port: { backends }, sticky }: BalancedAddress): string {
  if (backends.length === 1) return `to ${backends[0].address}:${backends[0].port}`;
  const number = sticky ? `jhash ip saddr mod ${backends.length}` : `numgen random mod ${backends.length}`;
  const choices = backends.map(({ address, port }, position) => `${position} : ${address} . ${port}`);
  return `addr . port to ${number} map { ${choices.join(', ')} }`;
}

/** Who is in the same segment as the worker would get the answer from the worker itself, which it did not ask: the router asks in its place. */
export function sourceRules(vpc: Vpc): string[] {
  if (!vpc.loadBalancers?.length) return [];
  return vpc.subnets.map((subnet) => `oifname "${bridgeOf(subnet)}" ip saddr @own ct status dnat snat ip to ${subnet.gateway}`);
}

/** What was sent to one of the workers, and what they answer, as long as it is allowed today. */
export function forwardRules(): string[] {
  return [
    'ct status dnat ct original ip saddr . ct mark != @balanced drop',
    'ct status dnat ct direction original oifname @segments accept',
    'ct status dnat ct direction reply iifname @segments accept',
  ];
}

/** A listener's connections are known by a mark, because a set cannot hold which port a connection was made to. */
function markOf({ address, port: { protocol, port } }: BalancedAddress): string {
  return `0x${createHash('sha256').update(`${address} ${protocol} ${port}`).digest('hex').slice(0, 8)}`;
}
