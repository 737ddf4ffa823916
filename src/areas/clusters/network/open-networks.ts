import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { parseIp } from '../../../kube/ip.ts';
import { contains, ipv4Range, overlap, toText } from '../../../kube/ipv4-range.ts';
import type { Clock } from '../../../lib/clock.ts';
import { replaceFile } from '../../../lib/pki/private-file.ts';
import { platformOf, type Platform } from './model/vpc.ts';
import { networksUnable } from './network-ability.ts';
import type { Networks } from './networks.ts';

export const NETWORK_CHOICES = ['auto', 'linux', 'ovn', 'off'] as const;
export type NetworkChoice = (typeof NETWORK_CHOICES)[number];

/** A link of the machine to the wire for tagged segments, and the tags that tenants may have on it. */
export interface Wire {
  link: string;
  first: number;
  last: number;
}

export interface OpenNetworksOptions {
  choice: NetworkChoice;
  /** For what is written down, and for OVN's databases. */
  folder: string;
  clock: Clock;
  wire?: Wire;
  /** Ranges that tenants have their external addresses from. */
  external?: readonly string[];
}

/** What an instance is called in the kernel, for its life. */
interface NetworkRecord {
  /** Tells the instances on one machine apart. */
  instance: string;
  /** Links between the machine and routers have their addresses from here. */
  transit: string;
  /** Who made what there is. */
  provider?: 'linux' | 'ovn';
}

export type OpenedNetworks = { networks: Networks; platform: Platform; wire?: Wire } | { unable: string };

/** Each instance takes one part of the shared range: /18s, with room for 8000 VPCs. */
const SHARED = ipv4Range('100.64.0.0/10');
const TRANSIT_PREFIX = 18;
/** Control planes with a namespace of their own have these. */
const NOT_FOR_TRANSIT = ipv4Range('100.66.0.0/16');

/** Who makes the networks of tenants on this machine, or why nobody can. What another provider left from before is taken away. */
export async function openNetworks({ choice, folder, clock, wire, external }: OpenNetworksOptions): Promise<OpenedNetworks> {
  if (choice === 'off') return { unable: 'they are turned off; start it with another --cluster-network' };
  const provider = choice === 'ovn' ? 'ovn' : 'linux';
  const unable = await networksUnable(provider);
  if (unable !== undefined) return { unable };
  const record = await recordIn(folder, machineAddresses());
  const make = async (which: 'linux' | 'ovn'): Promise<Networks> => {
    const { instance } = record;
    if (which === 'linux') return new (await import('./linux/linux-networks.ts')).LinuxNetworks({ instance });
    const { OvnNetworks } = await import('./ovn/ovn-networks.ts');
    return new OvnNetworks({ instance, folder: join(folder, 'ovn'), clock, ...(wire ? { wire: wire.link } : {}) });
  };
  if (record.provider !== undefined && record.provider !== provider) await (await make(record.provider)).remove();
  await write(folder, { ...record, provider });
  const platform = platformOf(machineAddresses().filter(isOfTheWorld), record.transit);
  return { networks: await make(provider), platform: { ...platform, ...(external ? { external } : {}) }, ...(wire ? { wire } : {}) };
}

/** A part of the shared range that nobody on this machine uses. */
export function freeTransit(start: number, addresses: readonly string[]): string {
  const size = 2 ** (32 - TRANSIT_PREFIX);
  const parts = (SHARED.last - SHARED.first + 1) / size;
  for (let step = 0; step < parts; step++) {
    const transit = `${toText(SHARED.first + ((start + step) % parts) * size)}/${TRANSIT_PREFIX}`;
    const range = ipv4Range(transit);
    if (!overlap(range, NOT_FOR_TRANSIT) && !addresses.some((address) => contains(range, address))) return transit;
  }
  throw new Error('Cannot find addresses for the links of tenants: this machine uses all of 100.64.0.0/10; free a part of it');
}

async function recordIn(folder: string, addresses: readonly string[]): Promise<NetworkRecord> {
  try {
    return JSON.parse(await readFile(join(folder, 'network.json'), 'utf8')) as NetworkRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const random = randomBytes(7);
  const record = { instance: random.subarray(0, 3).toString('hex'), transit: freeTransit(random.readUInt32BE(3), addresses) };
  await write(folder, record);
  return record;
}

async function write(folder: string, record: NetworkRecord): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await replaceFile(join(folder, 'network.json'), `${JSON.stringify(record)}\n`, 0o600);
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
}

/** Ranges of nobody are blocked as a whole. */
function isOfTheWorld(address: string): boolean {
  return parseIp(address)?.version === 4 && !platformOf().blocked.some((cidr) => contains(ipv4Range(cidr), address));
}
