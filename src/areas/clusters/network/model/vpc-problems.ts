import { parseCidr } from '../../../../kube/ip.ts';
import { ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';
import { accessProblems } from './access-problems.ts';
import { isHostAddress, isPlainAddress, isPlainRange, isVlan, lastIndex } from './address-plan.ts';
import { externalAddresses } from './balanced.ts';
import type { NetworkPlan, Platform, Subnet, Vpc } from './vpc.ts';

/** The largest and the smallest subnet: a /28 has room for the gateway and a dozen workers. */
const PREFIXES = { least: 8, most: 28 } as const;

/** Links of routers to the machine and to each other have addresses of the shared range. */
const NOT_FOR_SUBNETS = ['0.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4'].map((text) => ({
  text,
  range: ipv4Range(text),
}));

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** Why a VPC cannot be made, in words for its owner; empty when it can. */
export function vpcProblems(vpc: Vpc, platform: Platform): string[] {
  const subnets = subnetsProblems(vpc, platform);
  // What stands on subnets that are no ranges cannot be judged.
  if (subnets.length > 0) return subnets;
  const within = [...indexProblems(vpc, platform), ...portsProblems(vpc), ...routesProblems(vpc, platform)];
  return within.length > 0 ? within : accessProblems(vpc, platform);
}

/** What only shows with all VPCs side by side. */
export function planProblems({ vpcs }: NetworkPlan): string[] {
  const subnets = vpcs.flatMap((vpc) =>
    vpc.subnets.filter(({ vlan }) => vlan !== undefined).map(({ vlan, name }) => [vlan!, `${vpc.name}/${name}`] as const),
  );
  return [
    ...twice(subnets, (vlan, first, second) => `Cannot use VLAN "${vlan}" for subnet ${second}: subnet ${first} has it; choose another id`),
    ...twice(
      vpcs.map(({ index, name }) => [index, name] as const),
      (index, first, second) => `Cannot use pair "${index}" of transit addresses for VPC ${second}: VPC ${first} has it; give it another`,
    ),
    ...twice(
      vpcs.flatMap((vpc) => externalAddresses(vpc).map((address) => [address, vpc.name] as const)),
      (address, first, second) => `Cannot give external address "${address}" to VPC ${second}: VPC ${first} has it; choose another`,
    ),
    ...twice(
      vpcs.map(({ name }) => [name, name] as const),
      (name) => `Cannot make two VPCs "${name}": the name is in use; choose another`,
    ),
  ];
}

function subnetsProblems(vpc: Vpc, platform: Platform): string[] {
  const problems = vpc.subnets.flatMap((subnet) => subnetProblems(vpc, subnet, platform));
  if (problems.length > 0) return problems;
  problems.push(
    ...twice(
      vpc.subnets.map(({ name }) => [name, name] as const),
      (name) => `Cannot make two subnets "${name}" in VPC ${vpc.name}: names are unique; choose another`,
    ),
  );
  vpc.subnets.forEach((subnet, position) => {
    const other = vpc.subnets.slice(0, position).find(({ cidr }) => overlap(ipv4Range(cidr), ipv4Range(subnet.cidr)));
    if (other) {
      problems.push(
        `Cannot make subnet "${subnet.name}" of VPC ${vpc.name}: ${subnet.cidr} overlaps ${other.cidr} of subnet ${other.name}; choose another range`,
      );
    }
  });
  return problems;
}

function subnetProblems(vpc: Vpc, { name, cidr, gateway, vlan }: Subnet, platform: Platform): string[] {
  const cannot = `Cannot make subnet "${name}" of VPC ${vpc.name}`;
  const parsed = parseCidr(cidr);
  if (parsed === undefined || !isPlainRange(cidr)) return [`${cannot}: "${cidr}" is not an IPv4 CIDR; write one such as 10.0.1.0/24`];
  if (parsed.prefix < PREFIXES.least || parsed.prefix > PREFIXES.most) {
    return [`${cannot}: a subnet is between a /${PREFIXES.least} and a /${PREFIXES.most}, and ${cidr} is not; choose another size`];
  }
  const range = ipv4Range(cidr);
  const taken = [...NOT_FOR_SUBNETS, { text: platform.transit, range: ipv4Range(platform.transit) }].find((one) =>
    overlap(one.range, range),
  );
  if (taken) return [`${cannot}: ${cidr} overlaps ${taken.text}, which cannot be used in a VPC; choose another range`];
  if (!isPlainAddress(gateway) || !isHostAddress(cidr, gateway)) {
    return [`${cannot}: its gateway ${gateway} is not an address in ${cidr}; choose one that is`];
  }
  if (vpc.mode === 'VLAN' && (vlan === undefined || !isVlan(vlan))) {
    return [`${cannot}: the mode VLAN needs a tag from 2 to 4094, and it has ${vlan ?? 'none'}; name one`];
  }
  if (vpc.mode === 'Overlay' && vlan !== undefined) return [`${cannot}: it has VLAN ${vlan} in the mode Overlay; leave it out`];
  return [];
}

function indexProblems({ name, index }: Vpc, platform: Platform): string[] {
  if (Number.isInteger(index) && index >= 1 && index <= lastIndex(platform)) return [];
  return [`Cannot make VPC "${name}": ${index} is no pair of addresses in ${platform.transit}; give it a free one`];
}

function portsProblems(vpc: Vpc): string[] {
  const of = (key: 'name' | 'address' | 'mac'): string[] =>
    twice(
      vpc.ports.map((port) => [port[key], port.name] as const),
      (value, first, second) => `Cannot give ${key} "${value}" to port ${second} of VPC ${vpc.name}: port ${first} has it; choose another`,
    );
  const problems = vpc.ports.flatMap(({ name, subnet: subnetName, address, mac }) => {
    const cannot = `Cannot make port "${name}" of VPC ${vpc.name}`;
    const subnet = vpc.subnets.find((one) => one.name === subnetName);
    if (!subnet) return [`${cannot}: there is no subnet ${subnetName}; name one of ${vpc.subnets.map((one) => one.name).join(', ')}`];
    if (!isPlainAddress(address) || !isHostAddress(subnet.cidr, address) || address === subnet.gateway) {
      return [`${cannot}: ${address} is not a worker's address in ${subnet.cidr}; choose another`];
    }
    return MAC.test(mac) ? [] : [`${cannot}: "${mac}" is not a hardware address; write one such as 02:00:00:00:00:01`];
  });
  return [...problems, ...of('name'), ...of('address'), ...of('mac')];
}

function routesProblems(vpc: Vpc, platform: Platform): string[] {
  const problems = vpc.routes.flatMap(({ cidr, via }) => {
    const cannot = `Cannot make route "${cidr}" of VPC ${vpc.name}`;
    if (!isPlainRange(cidr)) return [`${cannot}: it is not an IPv4 CIDR; write one such as 10.244.1.0/24`];
    if (!isPlainAddress(via) || !vpc.subnets.some((one) => isHostAddress(one.cidr, via) && via !== one.gateway)) {
      return [`${cannot}: ${via} is not an address of a worker in its subnets; name one that is`];
    }
    const range = ipv4Range(cidr);
    if (overlap(range, ipv4Range(platform.transit))) return [`${cannot}: it covers addresses of the platform; choose a smaller range`];
    const subnet = vpc.subnets.find((one) => overlap(range, ipv4Range(one.cidr)));
    if (subnet) return [`${cannot}: it overlaps ${subnet.cidr} of subnet ${subnet.name}; choose another range`];
    return [];
  });
  return [
    ...problems,
    ...twice(
      vpc.routes.map(({ cidr, via }) => [cidr, via] as const),
      (cidr, first, second) =>
        `Cannot make route "${cidr}" of VPC ${vpc.name} through ${second}: it goes through ${first}; name one of them`,
    ),
  ];
}

function twice<K>(entries: readonly (readonly [K, string])[], say: (key: K, first: string, second: string) => string): string[] {
  const seen = new Map<K, string>();
  return entries.flatMap(([key, name]) => {
    const first = seen.get(key);
    if (first === undefined) seen.set(key, name);
    return first === undefined ? [] : [say(key, first, name)];
  });
}
