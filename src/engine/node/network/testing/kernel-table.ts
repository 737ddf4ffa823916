/**
 * A table as the kernel would hold it, for tests that have none: applies what `NftTable` writes, refuses what the kernel refuses (names that
 * are not there, deletions of what is in use), and judges connections by the rules of policies.
 */
export interface Connection {
  client: string;
  server: string;
  protocol: 'tcp' | 'udp' | 'sctp' | 'icmp';
  port: number;
}

export class KernelTable {
  readonly sets = new Map<string, Map<string, string>>();
  readonly chains = new Map<string, string[]>();

  /** One transaction: all of it or, with an error, nothing of interest to a test. */
  apply(text: string): void {
    for (const line of text.replaceAll(/^table ip \S+ \{[\s\S]*?\n\}$/gm, '').split('\n')) if (line !== '') this.#command(line);
    this.#check();
  }

  /** Whether both ends' policies let it through. */
  allows(connection: Connection): boolean {
    return this.#allowsIn('egress_of', connection.client, connection) && this.#allowsIn('ingress_of', connection.server, connection);
  }

  #command(line: string): void {
    const [verb, kind, family, , name, ...rest] = line.split(' ');
    if (family !== 'ip') throw new Error(`not a command: ${line}`);
    const body = rest.join(' ');
    const what = `${verb} ${kind}`;
    if (what === 'add table' || what === 'delete table') {
      this.sets.clear();
      this.chains.clear();
    } else if (what === 'add set' || what === 'add map') this.#fresh(this.sets, name, new Map<string, string>());
    else if (what === 'delete set') this.#deleteSet(name);
    else if (what === 'add chain') this.#fresh(this.chains, name, []);
    else if (what === 'flush chain') this.#known(this.chains, name).splice(0);
    else if (what === 'add rule') this.#known(this.chains, name).push(body);
    else if (what === 'delete chain') this.#deleteChain(name);
    else if (what === 'add element') this.#addElements(name, body);
    else if (what === 'delete element') this.#deleteElements(name, body);
    else throw new Error(`not a command: ${line}`);
  }

  #fresh<T>(items: Map<string, T>, name: string, item: T): void {
    if (items.has(name)) throw new Error(`${name} is there already`);
    items.set(name, item);
  }

  #known<T>(items: Map<string, T>, name: string): T {
    const item = items.get(name);
    if (item === undefined) throw new Error(`${name} is not there`);
    return item;
  }

  #deleteSet(name: string): void {
    this.#known(this.sets, name);
    this.sets.delete(name);
  }

  #deleteChain(name: string): void {
    if (this.#known(this.chains, name).length > 0) throw new Error(`chain ${name} has rules`);
    for (const elements of this.sets.values()) {
      for (const value of elements.values()) if (value.endsWith(` ${name}`)) throw new Error(`chain ${name} is in use`);
    }
    this.chains.delete(name);
  }

  #addElements(name: string, body: string): void {
    const elements = this.#known(this.sets, name);
    for (const item of body.slice(2, -2).split(', ')) {
      const [key, value = ''] = item.split(' : ');
      const present = elements.get(key);
      if (present !== undefined && present !== value) throw new Error(`${key} in ${name} is there already`);
      elements.set(key, value);
    }
  }

  #deleteElements(name: string, body: string): void {
    const elements = this.#known(this.sets, name);
    for (const key of body.slice(2, -2).split(', ')) if (!elements.delete(key)) throw new Error(`${key} is not in ${name}`);
  }

  /** At the end of a transaction, everything that is mentioned is there. */
  #check(): void {
    for (const [chain, rules] of this.chains) {
      for (const rule of rules) {
        for (const [, set] of rule.matchAll(/@(\w+)/g)) if (!this.sets.has(set)) throw new Error(`${chain} mentions ${set}`);
        for (const [, target] of rule.matchAll(/(?:goto|jump) (\w+)/g))
          if (!this.chains.has(target)) throw new Error(`${chain} leads to ${target}`);
      }
    }
    for (const [set, elements] of this.sets) {
      for (const value of elements.values()) {
        const target = /^(?:goto|jump) (\w+)$/.exec(value)?.[1];
        if (target !== undefined && !this.chains.has(target)) throw new Error(`${set} leads to ${target}`);
      }
    }
  }

  #allowsIn(map: string, address: string, connection: Connection): boolean {
    const verdict = this.sets.get(map)?.get(address);
    if (verdict === undefined) return true;
    if (verdict === 'drop') return false;
    for (const rule of this.chains.get(verdict.slice('jump '.length))!) {
      if (rule.startsWith('goto denied_')) return false;
      if (this.#matches(rule, connection)) return true;
    }
    throw new Error(`${verdict} has no end`);
  }

  #matches(rule: string, { client, server, protocol, port }: Connection): boolean {
    const conditions = [...rule.matchAll(/ct (original|reply) ip saddr (!= )?(\S+)/g)];
    for (const [, end, not, target] of conditions) {
      const address = end === 'original' ? client : server;
      const inside = target.startsWith('@') ? this.sets.get(target.slice(1))!.has(address) : inBlock(address, target);
      if (inside === (not !== undefined)) return false;
    }
    const wanted = /meta l4proto (\w+)/.exec(rule)?.[1];
    if (wanted !== undefined && wanted !== protocol) return false;
    const ports = /ct reply proto-src (\d+)(?:-(\d+))?/.exec(rule);
    return !ports || (port >= Number(ports[1]) && port <= Number(ports[2] ?? ports[1]));
  }
}

export function inBlock(address: string, block: string): boolean {
  const [network, prefix] = block.split('/');
  const value = (text: string): number => text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const size = 2 ** (32 - Number(prefix));
  return Math.floor(value(address) / size) === Math.floor(value(network) / size);
}
