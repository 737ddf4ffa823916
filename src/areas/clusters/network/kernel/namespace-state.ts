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
/** A status that `ip` does not end with. */
const INTERRUPTED = 75;

/**
 * What the kernel tells while links come and go may be half of one state and half of the next, which `ip` says: then it is asked again, not without end.
 * What it says besides is only shown when it fails: it is not what there is.
 */
const WHOLE = `whole() {
  tries=0
  while [ $tries -lt 20 ]; do
    tries=$((tries + 1))
    status=0
    said=$({
      wrong=$("$@" 2>&1 >&3) || status=$?
      case "$wrong" in *'Dump was interrupted'*) exit ${INTERRUPTED} ;; esac
      [ $status = 0 ] || printf '%s\\n' "$wrong"
      exit $status
    } 3>&1) || status=$?
    [ $status = ${INTERRUPTED} ] || { printf '%s\\n' "$said"; return $status; }
    [ $tries -lt 10 ] || sleep 0.5
  done
  echo 'links and routes change faster than they can be read'
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
