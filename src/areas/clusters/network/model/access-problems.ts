import { contains, ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';
import { isHostAddress, isPlainAddress, isPlainRange } from './address-plan.ts';
import { externalAddresses } from './balanced.ts';
import type { LoadBalancer, Platform, Vpc } from './vpc.ts';

/** Why load balancers and gateways of a VPC cannot be, in words for its owner. Its subnets, ports and routes are right. */
export function accessProblems(vpc: Vpc, platform: Platform): string[] {
  const { loadBalancers = [] } = vpc;
  return [
    ...loadBalancers.flatMap((balancer) => balancerProblem(vpc, balancer) ?? []),
    ...addressesTwice(vpc),
    ...externalAddresses(vpc).flatMap((address) => externalProblem(vpc, address, platform) ?? []),
    ...vpnProblems(vpc, platform),
  ];
}

function balancerProblem(vpc: Vpc, { name, subnet: subnetName, address, ports, sources }: LoadBalancer): string | undefined {
  const cannot = `Cannot make load balancer "${name}" of VPC ${vpc.name}`;
  const subnet = vpc.subnets.find((one) => one.name === subnetName);
  if (!subnet) return `${cannot}: there is no subnet ${subnetName}; name one of ${vpc.subnets.map((one) => one.name).join(', ')}`;
  if (!isPlainAddress(address) || !isHostAddress(subnet.cidr, address) || address === subnet.gateway) {
    return `${cannot}: ${address} is not a free address in ${subnet.cidr}; choose another`;
  }
  const wrong = sources.find((source) => !isPlainRange(source));
  if (wrong !== undefined) return `${cannot}: source "${wrong}" is not an IPv4 CIDR; write one such as 198.51.100.0/24`;
  const own = [...vpc.subnets, ...vpc.routes].map(({ cidr }) => ipv4Range(cidr));
  const stranger = ports
    .flatMap(({ backends }) => backends)
    .find(({ address: its }) => !isPlainAddress(its) || !own.some((range) => contains(range, its)));
  return stranger && `${cannot}: ${stranger.address} behind it is not in the VPC; name its workers`;
}

function addressesTwice(vpc: Vpc): string[] {
  const owners = new Map(vpc.ports.map(({ address, name }) => [address, `worker ${name}`]));
  return (vpc.loadBalancers ?? []).flatMap(({ name, address }) => {
    const owner = owners.get(address);
    owners.set(address, `load balancer ${name}`);
    return owner === undefined
      ? []
      : [`Cannot give address "${address}" to load balancer ${name} of VPC ${vpc.name}: ${owner} has it; choose another`];
  });
}

function externalProblem(vpc: Vpc, address: string, { transit }: Platform): string | undefined {
  const cannot = `Cannot make "${address}" an external address of VPC ${vpc.name}`;
  if (!isPlainAddress(address)) return `${cannot}: it is no IPv4 address; choose one that is`;
  const inside = [...vpc.subnets, ...vpc.routes, { cidr: transit }].find(({ cidr }) => contains(ipv4Range(cidr), address));
  return inside && `${cannot}: it is in ${inside.cidr}; choose one outside`;
}

/** Why those outside cannot have the addresses that they should have. */
export function vpnProblems(vpc: Pick<Vpc, 'name' | 'subnets' | 'routes' | 'vpn'>, { transit }: Platform): string[] {
  return (vpc.vpn?.clients ?? []).flatMap((client) => {
    const cannot = `Cannot let VPN clients of VPC "${vpc.name}" be ${client}`;
    if (!isPlainRange(client)) return [`${cannot}: it is not an IPv4 CIDR; write one such as 10.99.0.2/32`];
    const taken = [...vpc.subnets, ...vpc.routes, { cidr: transit }].find(({ cidr }) => overlap(ipv4Range(cidr), ipv4Range(client)));
    return taken ? [`${cannot}: it overlaps ${taken.cidr}; choose addresses of nobody else`] : [];
  });
}
