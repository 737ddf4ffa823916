import type { NftTable } from '../../ruleset/nft-table.ts';
import { shortHash } from '../../policies/model/compiled-policy.ts';
import type { ServicePort } from './service-endpoints.ts';

const SERVICES = 'services';

/** Loopback and link-local addresses mean another place for whoever asks: an endpoint there would lead into the router itself. */
const UNROUTABLE = /^(127\.|169\.254\.|0\.)/;

interface Written {
  keys: string[];
  chains: string[];
  sets: string[];
  text: string;
}

/**
 * Services in the table: the address and port of each lead to a chain that picks an endpoint. A Service without endpoints has no entry:
 * its packets reach the router itself, which refuses them.
 */
export class ServiceRules {
  #table: NftTable;
  /** Addresses that the router answers itself. */
  #own: ReadonlySet<string>;
  #written = new Map<string, Written[]>();

  constructor(table: NftTable, own: ReadonlySet<string>) {
    this.#table = table;
    this.#own = own;
    table.declareSet(SERVICES, { kind: 'map', definition: 'type ipv4_addr . inet_proto . inet_service : verdict;' });
  }

  /** @returns whether anything changed. */
  set(service: string, ports: readonly ServicePort[]): boolean {
    const before = this.#written.get(service) ?? [];
    const plans = ports.flatMap((port) => this.#plan(port) ?? []);
    const same = before.length === plans.length && before.every(({ text }, i) => text === plans[i].text);
    if (same) return false;
    for (const { sets } of plans) for (const { name, definition } of sets) this.#table.declareSet(name, { kind: 'set', definition });
    for (const { chains } of plans) for (const { name, rules } of chains) this.#table.setChain(name, rules);
    for (const { keys, entry } of plans) for (const key of keys) this.#table.addElement(SERVICES, key, `goto ${entry}`);
    const after = plans.map(({ keys, chains, sets, text }) => ({
      keys,
      chains: chains.map(({ name }) => name),
      sets: sets.map(({ name }) => name),
      text,
    }));
    this.#remove(before, after);
    if (after.length > 0) this.#written.set(service, after);
    else this.#written.delete(service);
    return true;
  }

  delete(service: string): boolean {
    return this.set(service, []);
  }

  #remove(before: Written[], after: Written[]): void {
    const keys = new Set(after.flatMap((written) => written.keys));
    const chains = new Set(after.flatMap((written) => written.chains));
    const sets = new Set(after.flatMap((written) => written.sets));
    for (const written of before) {
      for (const key of written.keys) if (!keys.has(key)) this.#table.deleteElement(SERVICES, key);
      for (const chain of written.chains) if (!chains.has(chain)) this.#table.deleteChain(chain);
      for (const set of written.sets) if (!sets.has(set)) this.#table.deleteSet(set);
    }
  }

  #plan(port: ServicePort) {
    const addresses = port.clusterIps.filter((ip) => !this.#own.has(ip));
    const endpoints = port.endpoints.filter(({ address }) => !UNROUTABLE.test(address));
    if (addresses.length === 0 || endpoints.length === 0) return undefined;
    const entry = `service_${shortHash(port.id)}`;
    const keys = addresses.map((ip) => `${ip} . ${port.protocol} . ${port.port}`);
    const body =
      port.affinitySeconds === undefined ? anyEndpoint(entry, { ...port, endpoints }) : stickyEndpoint(entry, { ...port, endpoints });
    return { entry, keys, ...body, text: JSON.stringify([keys, body]) };
  }
}

interface Body {
  chains: { name: string; rules: string[] }[];
  sets: { name: string; definition: string }[];
}

function anyEndpoint(entry: string, { protocol, endpoints }: ServicePort): Body {
  const targets = endpoints.map(({ address, port }, i) => `${i} : ${address} . ${port}`).join(', ');
  const rule = `meta l4proto ${protocol} dnat ip to numgen random mod ${endpoints.length} map { ${targets} }`;
  return { chains: [{ name: entry, rules: [rule] }], sets: [] };
}

/** Each endpoint remembers its clients for a while; a client that none remembers gets any of them. */
function stickyEndpoint(entry: string, { protocol, endpoints, affinitySeconds }: ServicePort): Body {
  const places = endpoints.map(({ address, port }) => {
    const id = shortHash(`${entry} ${address}:${port} ${affinitySeconds}`);
    return { chain: `endpoint_${id}`, clients: `clients_${id}`, target: `${address}:${port}` };
  });
  const choices = places.map(({ chain }, i) => `${i} : goto ${chain}`).join(', ');
  return {
    // The endpoints first: a rule cannot lead to a chain that is not there yet.
    chains: [
      ...places.map(({ chain, clients, target }) => ({
        name: chain,
        rules: [`update @${clients} { ip saddr }`, `meta l4proto ${protocol} dnat to ${target}`],
      })),
      {
        name: entry,
        rules: [
          ...places.map(({ chain, clients }) => `ip saddr @${clients} goto ${chain}`),
          `numgen random mod ${places.length} vmap { ${choices} }`,
        ],
      },
    ],
    sets: places.map(({ clients }) => ({
      name: clients,
      definition: `type ipv4_addr; size 65535; flags dynamic,timeout; timeout ${affinitySeconds}s;`,
    })),
  };
}
