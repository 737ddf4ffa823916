import { peerAddressOf, uplinkOf } from '../model/address-plan.ts';
import { externalAddresses } from '../model/balanced.ts';
import type { Platform, Vpc } from '../model/vpc.ts';
import { peerLinkOf, UPLINK, type LinuxNames } from './names.ts';
import { groupRemoval } from '../kernel/script.ts';
import type { NamespaceState } from '../kernel/namespace-state.ts';

/** What is needed of a router's surroundings: its namespace, and the links that end in it. */
export interface Surroundings {
  vpc: Vpc;
  peers: readonly Vpc[];
  /** What is in its namespace; absent: there is no namespace. */
  state: NamespaceState | undefined;
  /** A file of its name is there with no namespace behind it, as a crash leaves it. */
  broken: boolean;
}

/** Input of `ip -batch` on the machine that makes a router's namespace and uplink. */
export function surroundingCommands(
  { vpc, state, broken }: Surroundings,
  machineLinks: ReadonlySet<string>,
  names: LinuxNames,
  platform: Platform,
): string[] {
  const namespace = names.namespace(vpc.name);
  const link = names.uplink(vpc.name);
  const uplink = uplinkOf(platform, vpc.index);
  const linked = state?.links.has(UPLINK) === true && machineLinks.has(link);
  const commands = [...(broken ? [`netns delete ${namespace}`] : []), ...(state === undefined ? [`netns add ${namespace}`] : [])];
  if (!linked) {
    // One end may still be in a namespace that was deleted and has not ended.
    if (machineLinks.has(link)) commands.push(`link delete ${link}`);
    commands.push(`link add ${link} type veth peer name ${UPLINK} netns ${namespace}`);
  }
  return [
    ...commands,
    `address replace ${uplink.platform}/32 dev ${link}`,
    `link set ${link} up`,
    `route replace ${uplink.router}/32 dev ${link} src ${uplink.platform}`,
    ...externalAddresses(vpc).map((address) => `route replace ${address}/32 via ${uplink.router} dev ${link} src ${uplink.platform}`),
  ];
}

/** Input of `ip -batch` on the machine that sends nothing to routers any more that is not theirs. */
export function strayRouteCommands(vpcs: readonly Vpc[], machine: NamespaceState, names: LinuxNames): string[] {
  const wanted = new Map(vpcs.flatMap((vpc) => externalAddresses(vpc).map((address) => [address, names.uplink(vpc.name)])));
  return [...machine.routes]
    .filter(([address, link]) => link.startsWith(names.uplinkPrefix) && wanted.get(address) !== link)
    .map(([address, link]) => `route delete ${address} dev ${link}`);
}

/** Links to peers, made from the side whose name comes first. Both namespaces are there. */
export function peerLinkCommands({ vpc, peers }: Surroundings, states: ReadonlyMap<string, NamespaceState>, names: LinuxNames): string[] {
  return peers
    .filter((peer) => vpc.name < peer.name)
    .filter((peer) => !states.get(vpc.name)?.links.has(peerLinkOf(vpc, peer)) || !states.get(peer.name)?.links.has(peerLinkOf(peer, vpc)))
    .map((peer) => {
      const [own, other] = [names.namespace(vpc.name), names.namespace(peer.name)];
      return `link add ${peerLinkOf(vpc, peer)} netns ${own} type veth peer name ${peerLinkOf(peer, vpc)} netns ${other}`;
    });
}

/** Takes away the routers of VPCs that are no longer wanted. A namespace ends with the last process in it; its uplink must not wait for that. */
export function removalCommands(namespaces: readonly string[], machineLinks: ReadonlySet<string>, names: LinuxNames): string[] {
  const uplinks = namespaces.map((namespace) => `${names.uplinkPrefix}${namespace.slice(names.namespacePrefix.length)}`);
  return [...groupRemoval(uplinks.filter((link) => machineLinks.has(link))), ...namespaces.map((namespace) => `netns delete ${namespace}`)];
}

/** What of a peer decides about a router: its ports do not. */
export function peerFacts({ name, index, subnets }: Vpc): unknown {
  return [name, peerAddressOf(index), subnets];
}
