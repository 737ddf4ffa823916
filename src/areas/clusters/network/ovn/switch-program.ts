import { ipv4Range } from '../../../../kube/ipv4-range.ts';
import { uplinkOf } from '../model/address-plan.ts';
import { externalAddresses } from '../model/balanced.ts';
import type { NetworkPlan, Port, Vpc } from '../model/vpc.ts';
import { BRIDGES, CHASSIS, EXTERNAL, portOf, PRESENCE, UPLINK, WIRE } from './names.ts';

export interface SwitchSettings {
  /** Where the databases are. */
  socket: string;
  /** Where tunnels to other machines begin; absent: there are no others. */
  tunnels?: Tunnels;
  /** The link to the wire for tagged segments; absent: there are none. */
  wire?: string;
}

/** A link that tunnels go through, and this end's address on it with the length of its prefix. */
export interface Tunnels {
  link: string;
  address: string;
}

/** Arguments of `ovs-vsctl` that make the bridges and tell the controller where it is. */
export function switchCommands({ socket, tunnels, wire }: SwitchSettings): string[] {
  const mappings = [`${EXTERNAL.network}:${BRIDGES.platform}`, ...(wire === undefined ? [] : [`${WIRE}:${BRIDGES.wire}`])];
  const settings = {
    'system-id': CHASSIS,
    'ovn-remote': socket,
    'ovn-encap-type': 'geneve',
    'ovn-encap-ip': tunnels?.address.split('/')[0] ?? '127.0.0.1',
    'ovn-bridge': BRIDGES.workers,
    'ovn-bridge-datapath-type': 'netdev',
    'ovn-bridge-mappings': mappings.join(','),
    'ovn-monitor-all': 'true',
  };
  const links: [bridge: string, link: string | undefined][] = [
    [BRIDGES.workers, undefined],
    [BRIDGES.platform, UPLINK],
    ...(tunnels === undefined ? [] : [[BRIDGES.tunnels, tunnels.link] satisfies [string, string]]),
    ...(wire === undefined ? [] : [[BRIDGES.wire, wire] satisfies [string, string]]),
  ];
  return joined([
    ['set', 'Open_vSwitch', '.', ...Object.entries(settings).map(([name, value]) => `external-ids:${name}="${value}"`)],
    ...links.flatMap(([bridge, link]) => [
      ['--may-exist', 'add-br', bridge],
      ['set', 'Bridge', bridge, 'datapath_type=netdev'],
      ...(link === undefined ? [] : [['--may-exist', 'add-port', bridge, link]]),
    ]),
    ['set', 'Bridge', BRIDGES.workers, 'fail-mode=secure'],
    ['--may-exist', 'add-port', BRIDGES.workers, PRESENCE],
    ['set', 'Interface', PRESENCE, 'type=internal', `external_ids:iface-id=${EXTERNAL.here}`],
  ]);
}

/** What the machine has of the way to the routers. */
export interface MachineWays {
  addresses: ReadonlySet<string>;
  /** Destinations that it sends to routers. */
  routes: ReadonlySet<string>;
}

/** Input of `ip -batch` on the machine: its addresses on the way to the routers, and what it sends there. `present` is what there is of it. */
export function machineAddresses({ platform, vpcs }: NetworkPlan, link: string, present: MachineWays): string[] {
  const external = vpcs.flatMap((vpc) => externalAddresses(vpc).map((address) => ({ address, ...uplinkOf(platform, vpc.index) })));
  const routed = new Set(external.map(({ address }) => address));
  const uplinks = vpcs.map(({ index }) => uplinkOf(platform, index));
  const wanted = new Set(uplinks.map(({ platform: address }) => address));
  return [
    ...[...present.routes].filter((address) => !routed.has(address)).map((address) => `route delete ${address}/32 dev ${link}`),
    ...[...present.addresses].filter((address) => !wanted.has(address)).map((address) => `address delete ${address}/32 dev ${link}`),
    ...uplinks
      .filter(({ platform: address }) => !present.addresses.has(address))
      .flatMap(({ platform: address, router }) => [
        `address replace ${address}/32 dev ${link}`,
        `route replace ${router}/32 dev ${link} src ${address}`,
      ]),
    ...external.map(({ address, router, platform: source }) => `route replace ${address}/32 via ${router} dev ${link} src ${source}`),
  ];
}

/** Input of `ip -batch` in the switch's namespace that makes a worker's link. */
export function linkCommands(vpc: Vpc, port: Port, present: ReadonlySet<string>): string[] {
  const link = portOf(vpc.name, port);
  if (present.has(link)) return [];
  const { attachment } = port;
  const create =
    attachment.kind === 'Tap'
      ? `tuntap add dev ${link} mode tap${attachment.owner === undefined ? '' : ` user ${attachment.owner}`}`
      : `link add ${link} type veth peer name eth0 address ${port.mac} netns ${attachment.path}`;
  return [create, `link set ${link} up`];
}

/** Inside a worker that is a namespace. */
export function workerCommands(vpc: Vpc, port: Port): string[] {
  const { cidr, gateway } = vpc.subnets.find(({ name }) => name === port.subnet)!;
  const { first, last } = ipv4Range(cidr);
  return [
    'link set lo up',
    `address replace ${port.address}/${32 - Math.log2(last - first + 1)} dev eth0`,
    'link set eth0 up',
    `route replace default via ${gateway} dev eth0`,
  ];
}

/** Arguments of `ovs-vsctl` that plug in what should be there and unplug what should not. */
export function plugCommands(wanted: ReadonlySet<string>, present: ReadonlySet<string>): string[] {
  return joined([
    ...[...present].filter((link) => !wanted.has(link)).map((link) => ['--if-exists', 'del-port', BRIDGES.workers, link]),
    ...[...wanted]
      .filter((link) => !present.has(link))
      .flatMap((link) => [
        ['--may-exist', 'add-port', BRIDGES.workers, link],
        ['set', 'Interface', link, `external_ids:iface-id=${link}`],
      ]),
  ]);
}

/** Arguments of `ovs-vsctl` that wait until what comes from these links is treated as the rows say. */
export function installedCommands(links: readonly string[]): string[] {
  return joined(links.map((link) => ['wait-until', 'Interface', link, 'external_ids:ovn-installed=true']));
}

/** Many commands in one transaction. */
function joined(commands: readonly (readonly string[])[]): string[] {
  return commands.flatMap((command) => ['--', ...command]).slice(1);
}
