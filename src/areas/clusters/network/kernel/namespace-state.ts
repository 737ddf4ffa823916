/** What is in a network namespace. */
export interface NamespaceState {
  links: ReadonlySet<string>;
  /** Destinations of the routes that go through a gateway, each with the link it goes out through. */
  routes: ReadonlyMap<string, string>;
  /** Addresses with the length of their prefix, each with its link. */
  addresses: ReadonlyMap<string, string>;
  /** Tables of rules, such as `inet tenantry`. */
  tables: ReadonlySet<string>;
}

export const NOTHING: NamespaceState = { links: new Set(), routes: new Map(), addresses: new Map(), tables: new Set() };

const SEPARATOR = '---';

/** What the kernel tells while links come and go may be half of one state and half of the next, which `ip` says: then it is asked again. */
const WHOLE = `whole() {
  while said=$("$@" 2>&1); do
    case "$said" in *'Dump was interrupted'*) ;; *) printf '%s\\n' "$said"; return ;; esac
  done
  printf '%s\\n' "$said"
  return 1
}
`;

/** Tells what `readState` reads. */
export const STATE_SCRIPT = `${WHOLE}whole ip -j address show\necho ${SEPARATOR}\nwhole ip -j -4 route show\necho ${SEPARATOR}\nnft list tables\n`;

export function readState(output: string): NamespaceState {
  const [links, routes, tables] = output.split(`${SEPARATOR}\n`);
  const shown = JSON.parse(links || '[]') as { ifname: string; addr_info?: { family: string; local: string; prefixlen: number }[] }[];
  const ways = JSON.parse(routes || '[]') as { dst: string; gateway?: string; dev: string }[];
  return {
    links: new Set(shown.map(({ ifname }) => ifname)),
    addresses: new Map(
      shown.flatMap(({ ifname, addr_info: addresses = [] }) =>
        addresses.filter(({ family }) => family === 'inet').map((one) => [`${one.local}/${one.prefixlen}`, ifname] as const),
      ),
    ),
    routes: new Map(ways.filter(({ gateway }) => gateway).map(({ dst, dev }) => [dst, dev])),
    tables: new Set(tables.split('\n').map((line) => line.replace(/^table /, ''))),
  };
}
