import { balancedAddresses, type BalancedAddress } from '../model/balanced.ts';
import { uplinkOf } from '../model/address-plan.ts';
import type { Platform, Vpc } from '../model/vpc.ts';
import { routerOf, subnetNames } from './names.ts';
import type { Command } from './northbound.ts';

/** The row of a listener: one for each, so that a change of one is none of the others'. */
export function balancerOf(vpc: string, { address, port: { protocol, port } }: BalancedAddress): string {
  return `l.${vpc}.${address}.${protocol}.${port}`;
}

/**
 * Load balancers work where clients are: in the switches of the VPC and of its peers, whose packets then go straight to a worker; and in the router, for
 * those who come from outside.
 */
export function balancerCommands(vpc: Vpc, peers: readonly Vpc[]): Command[] {
  const own = balancedAddresses(vpc);
  const inside = [
    ...own.map((balanced) => ({ vpc: vpc.name, balanced })),
    ...peers.flatMap((peer) => internal(peer).map((balanced) => ({ vpc: peer.name, balanced }))),
  ];
  const router = routerOf(vpc.name);
  return [
    ...inside.flatMap(({ vpc: name, balanced }) => rowCommands(name, balanced)),
    ...vpc.subnets.flatMap((subnet) => {
      const { switch: name } = subnetNames(vpc.name, subnet);
      return [
        ['ls-lb-del', name],
        ...inside.map(({ vpc: owner, balanced }) => ['--may-exist', 'ls-lb-add', name, balancerOf(owner, balanced)]),
      ];
    }),
    ['lr-lb-del', router],
    ...own.map((balanced) => ['--may-exist', 'lr-lb-add', router, balancerOf(vpc.name, balanced)]),
  ];
}

function rowCommands(vpc: string, balanced: BalancedAddress): Command[] {
  const name = balancerOf(vpc, balanced);
  const { protocol, port, backends } = balanced.port;
  const to = backends.map((one) => `${one.address}:${one.port}`).join(',');
  return [
    ['--may-exist', 'lb-add', name, `${balanced.address}:${port}`, to, protocol],
    // Nobody waits for an answer of those who are not there, and what is open to them is cut.
    ['set', 'Load_Balancer', name, 'options:reject=true', 'options:ct_flush=true', `selection_fields=${balanced.sticky ? 'ip_src' : '[]'}`],
  ];
}

export function balancerNames(vpcs: readonly Vpc[]): Set<string> {
  return new Set(vpcs.flatMap((vpc) => balancedAddresses(vpc).map((balanced) => balancerOf(vpc.name, balanced))));
}

/** What workers answer to the machine, which stands for everybody outside: its own rules refuse what is no answer. */
export function answerMatches(vpc: Vpc, platform: Platform): string[] {
  const { platform: machine } = uplinkOf(platform, vpc.index);
  return backendsOutside(vpc).map(
    ({ protocol, address, port }) => `ip4.src == ${address} && ${protocol}.src == ${port} && ip4.dst == ${machine}`,
  );
}

/** What workers hear from outside. */
export function questionMatches(vpc: Vpc, platform: Platform): string[] {
  const { platform: machine } = uplinkOf(platform, vpc.index);
  return backendsOutside(vpc).map(
    ({ protocol, address, port }) => `ip4.src == ${machine} && ip4.dst == ${address} && ${protocol}.dst == ${port}`,
  );
}

/** What workers must not send to load balancers of their own VPC and of its peers. */
export function refusedMatches(vpc: Vpc, peers: readonly Vpc[]): string[] {
  return [...balancedAddresses(vpc), ...peers.flatMap(internal)]
    .filter(({ sources }) => !sources.includes('0.0.0.0/0'))
    .map(
      ({ address, port: { protocol, port }, sources }) =>
        `ip4.dst == ${address} && ${protocol}.dst == ${port} && ip4.src != {${sources.join(', ')}}`,
    );
}

function internal(vpc: Vpc): BalancedAddress[] {
  return balancedAddresses(vpc).filter(({ isExternal }) => !isExternal);
}

function backendsOutside(vpc: Vpc): { protocol: string; address: string; port: number }[] {
  const all = balancedAddresses(vpc)
    .filter(({ isExternal }) => isExternal)
    .flatMap(({ port: { protocol, backends } }) => backends.map((backend) => ({ protocol, ...backend })));
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}
