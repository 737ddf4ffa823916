import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import type { Log } from '../../../../lib/log.ts';
import { ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';
import { runCommand, runIpBatch, runNft } from '../kernel/commands.ts';
import { inNamespace, NAMESPACE_FOLDER, namespacePath } from '../kernel/namespaces.ts';
import { UPLINK } from '../ruleset/router-table.ts';
import { machineTable } from './machine-table.ts';

/** The next hop of every Pod. Never routed, so the same in every Pod of every instance. */
export const GATEWAY = '169.254.1.1';

export interface RouterPlan {
  /** Tells the instances on one machine apart; at most eight letters and digits. */
  id: string;
  /** Path of the namespace that plays the machine; absent: the one this process is in. */
  machine?: string;
  podCidr: string;
  serviceCidr: string;
  /** The machine's addresses on its end of the link: for itself, and for what it passes on from outside. */
  node: string;
  proxy: string;
  /** The router's address on its end. */
  uplink: string;
  /** Pods reach the world through the machine's address. */
  egress: boolean;
}

/** Settings of the router; the order is that of writing. */
const ROUTER_SETTINGS: Record<string, string> = {
  'net/ipv6/conf/all/disable_ipv6': '1',
  'net/ipv6/conf/default/disable_ipv6': '1',
  // A packet is taken only from the link that its source address is routed to: a Pod cannot use the address of another.
  'net/ipv4/conf/all/rp_filter': '1',
  'net/ipv4/conf/default/rp_filter': '1',
  'net/ipv4/conf/all/send_redirects': '0',
  'net/ipv4/conf/default/send_redirects': '0',
  'net/ipv4/conf/all/accept_redirects': '0',
  'net/ipv4/conf/default/accept_redirects': '0',
  // Refusals go to Pods only, which cannot ask for them in the name of others: each gets its own, at once.
  'net/ipv4/icmp_ratelimit': '0',
};

export function routerName(id: string): string {
  return `tenantry-${id}`;
}

export function uplinkName(id: string): string {
  return `tnt${id}`;
}

/** Another network of the machine has the addresses. */
export class RangeTakenError extends Error {
  constructor(range: string, route: { dst: string; dev: string }) {
    super(`Cannot use "${range}" for Pods: this machine has a route to ${route.dst} through ${route.dev}; name a free range with podCidr`);
  }
}

/** Makes the router of an instance, or brings the one that is there into shape. Pods that are attached to it do not notice. */
export async function ensureRouter(plan: RouterPlan, log: Log): Promise<void> {
  const name = routerName(plan.id);
  const path = namespacePath(name);
  const link = uplinkName(plan.id);
  await makeNamespace(name, plan.machine);
  writeSettings(path, ROUTER_SETTINGS);
  const links = await linkNames(plan.machine);
  if (!links.has(link)) {
    await runIpBatch([`link add ${link} mtu ${await outerMtu(plan.machine)} type veth peer name ${UPLINK} netns ${name}`], plan.machine);
  }
  await runIpBatch(
    [
      'link set lo up',
      `address replace ${GATEWAY}/32 dev lo`,
      `address replace ${plan.uplink}/32 dev ${UPLINK}`,
      `link set ${UPLINK} up`,
      `route replace ${plan.node}/32 dev ${UPLINK} src ${plan.uplink}`,
      `route replace ${plan.proxy}/32 dev ${UPLINK} src ${plan.uplink}`,
      `route replace default via ${plan.node} dev ${UPLINK}`,
      `route replace unreachable ${plan.podCidr}`,
      // Addresses of Services that lead nowhere end in the router, which can refuse them in words.
      `route replace local ${plan.serviceCidr} dev lo table local`,
    ],
    path,
  );
  await runIpBatch(await machineSetup(plan, link, log), plan.machine);
  await runNft(machineTable(plan), plan.machine);
  if (plan.egress) writeSettings(plan.machine, { 'net/ipv4/ip_forward': '1' });
}

/** Called when the rules are in place: before, nothing would hold Pods apart. */
export function openRouter(id: string): void {
  writeSettings(namespacePath(routerName(id)), {
    // Packets from the middle of a connection that is not known must not make it known again: it may have been cut.
    'net/netfilter/nf_conntrack_tcp_loose': '0',
    'net/ipv4/ip_forward': '1',
  });
}

async function machineSetup(plan: RouterPlan, link: string, log: Log): Promise<string[]> {
  const through = `via ${plan.uplink} dev ${link} src ${plan.node}`;
  const routes = await machineRoutes(plan.machine);
  const inTheWay = (range: string): { dst: string; dev: string } | undefined =>
    routes.find(({ dst, dev }) => dev !== link && overlap(ipv4Range(dst), ipv4Range(range)));
  const taken = inTheWay(plan.podCidr);
  if (taken) throw new RangeTakenError(plan.podCidr, taken);
  // `add` and not `replace`: of two instances that choose the same range at once, one must notice.
  const verb = routes.some(({ dst, dev }) => dev === link && dst === plan.podCidr) ? 'replace' : 'add';
  const commands = [
    `address replace ${plan.node}/32 dev ${link}`,
    `address replace ${plan.proxy}/32 dev ${link}`,
    `link set ${link} up`,
    `route replace ${plan.uplink}/32 dev ${link} src ${plan.node}`,
    `route ${verb} ${plan.podCidr} ${through}`,
  ];
  const conflict = inTheWay(plan.serviceCidr);
  if (!conflict) return [...commands, `route replace ${plan.serviceCidr} ${through}`];
  log.warn('Services are reached from Pods, but not from this machine: their range is in use here', {
    serviceCidr: plan.serviceCidr,
    route: `${conflict.dst} dev ${conflict.dev}`,
  });
  return commands;
}

export async function destroyRouter({ id, machine }: Pick<RouterPlan, 'id' | 'machine'>): Promise<void> {
  await runNft(`add table ip tenantry-${id}\ndelete table ip tenantry-${id}\n`, machine);
  const names = namespacesWith(routerName(id));
  if (names.length > 0)
    await runCommand('ip', ['-force', '-batch', '-'], { input: names.map((name) => `netns delete ${name}\n`).join('') });
  // The namespace ends when the last socket in it does; the link must not wait for that.
  if ((await linkNames(machine)).has(uplinkName(id))) await runIpBatch([`link delete ${uplinkName(id)}`], machine).catch(() => {});
}

/** The namespaces of an instance: the router's, whose name this is, and those of its Pods, whose names begin with it. */
export function namespacesWith(router: string): string[] {
  if (!existsSync(NAMESPACE_FOLDER)) return [];
  return readdirSync(NAMESPACE_FOLDER).filter((name) => name === router || name.startsWith(`${router}-`));
}

/** A file without a namespace behind it is what a crash between the two steps leaves. */
async function makeNamespace(name: string, machine: string | undefined): Promise<void> {
  const path = namespacePath(name);
  if (existsSync(path)) {
    try {
      inNamespace(path, () => {});
      return;
    } catch {
      await runIpBatch([`netns delete ${name}`], machine);
    }
  }
  await runIpBatch([`netns add ${name}`], machine);
}

export function writeSettings(namespace: string | undefined, settings: Record<string, string>): void {
  inNamespace(namespace, () => {
    for (const [name, value] of Object.entries(settings)) {
      const path = `/proc/sys/${name}`;
      // Kernels without IPv6 have nothing to turn off.
      if (existsSync(path) || !name.startsWith('net/ipv6/')) writeFileSync(path, value);
    }
  });
}

export async function linkNames(namespace: string | undefined): Promise<Set<string>> {
  const links = JSON.parse((await runCommand('ip', ['-j', 'link', 'show'], { namespace })) || '[]') as { ifname: string }[];
  return new Set(links.map(({ ifname }) => ifname));
}

/** Ranges that the machine has routes to, the default route aside. */
export async function machineRoutes(namespace: string | undefined): Promise<{ dst: string; dev: string }[]> {
  const routes = JSON.parse((await runCommand('ip', ['-j', '-4', 'route', 'show'], { namespace })) || '[]') as {
    dst: string;
    dev?: string;
  }[];
  return routes
    .filter(({ dst }) => /^[\d./]+$/.test(dst))
    .map(({ dst, dev = '' }) => ({ dst: dst.includes('/') ? dst : `${dst}/32`, dev }));
}

/** Packets of Pods must fit through where they leave the machine. */
async function outerMtu(namespace: string | undefined): Promise<number> {
  const [route] = JSON.parse((await runCommand('ip', ['-j', '-4', 'route', 'show', 'default'], { namespace })) || '[]') as {
    dev?: string;
  }[];
  if (!route?.dev) return 1500;
  const [link] = JSON.parse(await runCommand('ip', ['-j', 'link', 'show', route.dev], { namespace })) as { mtu?: number }[];
  return link?.mtu ?? 1500;
}
