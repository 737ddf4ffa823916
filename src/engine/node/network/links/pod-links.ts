import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { CommandShell } from '../kernel/command-shell.ts';
import { runCommand } from '../kernel/commands.ts';
import { namespacePath } from '../kernel/namespaces.ts';
import { UPLINK } from '../ruleset/router-table.ts';
import { GATEWAY, linkNames, namespacesWith, routerName, writeSettings } from './router.ts';

/** As most container runtimes have it: ports below 1024 and ping need no privilege inside a Pod. There is no IPv6 to the outside. */
const POD_SETTINGS: Record<string, string> = {
  'net/ipv4/ip_unprivileged_port_start': '0',
  'net/ipv4/ping_group_range': '0 2147483647',
  'net/ipv6/conf/eth0/disable_ipv6': '1',
};

/** The router's end of every link. Each is alone on its link, so they may all be called the same. */
const ROUTER_MAC = 'ee:ee:ee:ee:ee:ee';

/** The links between the router and the Pods: one each, with nothing else on it, so that all traffic is routed and judged. */
export class PodLinks {
  #router: string;
  #routerPath: string;
  #shell: CommandShell;
  /** Links that are there, by name. */
  #present = new Set<string>();
  #addresses = new Map<string, string>();
  #mtu = 1500;

  /** The shell is one inside the router. */
  constructor(id: string, shell: CommandShell) {
    this.#shell = shell;
    this.#router = routerName(id);
    this.#routerPath = namespacePath(this.#router);
  }

  /** Looks at what a process before this one left. */
  async read(): Promise<void> {
    this.#present = await linkNames(this.#routerPath);
    const routes = JSON.parse((await runCommand('ip', ['-j', '-4', 'route', 'show'], { namespace: this.#routerPath })) || '[]') as {
      dst: string;
      dev?: string;
    }[];
    this.#addresses.clear();
    for (const { dst, dev } of routes) if (dev?.startsWith('pod')) this.#addresses.set(dev, dst);
    const [uplink] = JSON.parse(await runCommand('ip', ['-j', 'link', 'show', UPLINK], { namespace: this.#routerPath })) as {
      mtu: number;
    }[];
    this.#mtu = uplink.mtu;
  }

  namespacePath(uid: string): string {
    return namespacePath(this.#namespaceOf(uid));
  }

  /** The address that the Pod's link was found with. */
  knownAddress(uid: string): string | undefined {
    return this.#addresses.get(linkOf(uid));
  }

  /** All addresses that links were found with. */
  knownAddresses(): string[] {
    return [...this.#addresses.values()];
  }

  /** Makes the Pod's namespace and link, or completes what is there. */
  async attach(uid: string, address: string): Promise<void> {
    const namespace = this.#namespaceOf(uid);
    const path = namespacePath(namespace);
    const link = linkOf(uid);
    const present = this.#present.has(link) && existsSync(path);
    if (present) await this.#shell.run('ip -batch -', `route replace ${address}/32 dev ${link}`);
    else await this.#create(link, namespace, address);
    this.#present.add(link);
    this.#addresses.set(link, address);
    writeSettings(path, POD_SETTINGS);
    const inside = [
      'link set lo up',
      `address replace ${address}/32 dev eth0`,
      'link set eth0 up',
      `route replace ${GATEWAY} dev eth0 scope link`,
      `route replace default via ${GATEWAY} dev eth0`,
      ...(present ? [] : [`neighbour replace ${GATEWAY} lladdr ${ROUTER_MAC} dev eth0 nud permanent`]),
    ];
    await this.#shell.run(`nsenter --net=${path} ip -batch -`, inside.join('\n'));
  }

  /** Both ends know each other from the start. The kernel has one table of learned neighbours for all namespaces, and it is small. */
  async #create(link: string, namespace: string, address: string): Promise<void> {
    const mac = macOf(address);
    const commands = [
      `netns add ${namespace}`,
      `link add ${link} address ${ROUTER_MAC} mtu ${this.#mtu} type veth peer name eth0 address ${mac} mtu ${this.#mtu} netns ${namespace}`,
      `link set ${link} up`,
      `neighbour replace ${address} lladdr ${mac} dev ${link} nud permanent`,
      `route replace ${address}/32 dev ${link}`,
    ].join('\n');
    try {
      await this.#shell.run('ip -batch -', commands);
    } catch {
      // Half of it is there from before a crash, or the link of a namespace of that name that is still ending.
      await this.#remove([link], [namespace]);
      await this.#shell.run('ip -batch -', commands);
    }
  }

  /** The kernel takes the link away with the namespace, when the last process in it has ended; the route goes at once. */
  async detach(uid: string): Promise<void> {
    const link = linkOf(uid);
    const address = this.#addresses.get(link);
    this.#present.delete(link);
    this.#addresses.delete(link);
    const namespace = this.#namespaceOf(uid);
    const commands = [
      ...(address === undefined ? [] : [`route delete ${address}/32 dev ${link}`]),
      ...(existsSync(namespacePath(namespace)) ? [`netns delete ${namespace}`] : []),
    ];
    if (commands.length > 0) await this.#force(commands);
  }

  /** Takes away the links and namespaces of Pods that are not among these. */
  async keepOnly(live: ReadonlySet<string>): Promise<void> {
    const namespaces = new Set([...live].map((uid) => this.#namespaceOf(uid)));
    const links = new Set([...live].map(linkOf));
    const orphans = [...(await linkNames(this.#routerPath))].filter((name) => name.startsWith('pod') && !links.has(name));
    await this.#remove(
      orphans,
      namespacesWith(this.#router).filter((name) => name !== this.#router && !namespaces.has(name)),
    );
    for (const link of orphans) {
      this.#present.delete(link);
      this.#addresses.delete(link);
    }
  }

  async #remove(links: readonly string[], namespaces: readonly string[]): Promise<void> {
    const commands = [
      ...links.map((link) => `link delete ${link}`),
      ...namespaces.filter((name) => existsSync(namespacePath(name))).map((name) => `netns delete ${name}`),
    ];
    if (commands.length > 0) await this.#force(commands);
  }

  /** What is gone already is no failure. */
  async #force(commands: readonly string[]): Promise<void> {
    await this.#shell.run('ip -force -batch -', commands.join('\n')).catch(() => {});
  }

  #namespaceOf(uid: string): string {
    return `${this.#router}-${hashOf(uid)}`;
  }
}

function macOf(address: string): string {
  return ['0a', '58', ...address.split('.').map((octet) => Number(octet).toString(16).padStart(2, '0'))].join(':');
}

/** Names of links have at most 15 characters. */
function linkOf(uid: string): string {
  return `pod${hashOf(uid)}`;
}

function hashOf(uid: string): string {
  return createHash('sha256').update(uid).digest('hex').slice(0, 12);
}
