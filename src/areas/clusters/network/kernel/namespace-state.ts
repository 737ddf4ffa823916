/** What is in a network namespace. */
export interface NamespaceState {
  links: ReadonlySet<string>;
  /** Destinations of the routes that go through a gateway. */
  routes: ReadonlySet<string>;
  /** Tables of rules, such as `inet tenantry`. */
  tables: ReadonlySet<string>;
}

export const NOTHING: NamespaceState = { links: new Set(), routes: new Set(), tables: new Set() };

const SEPARATOR = '---';

/** Tells what `readState` reads. */
export const STATE_SCRIPT = `ip -j link show\necho ${SEPARATOR}\nip -j -4 route show\necho ${SEPARATOR}\nnft list tables\n`;

export function readState(output: string): NamespaceState {
  const [links, routes, tables] = output.split(`${SEPARATOR}\n`);
  return {
    links: new Set((JSON.parse(links || '[]') as { ifname: string }[]).map(({ ifname }) => ifname)),
    routes: new Set(
      (JSON.parse(routes || '[]') as { dst: string; gateway?: string }[]).filter(({ gateway }) => gateway).map(({ dst }) => dst),
    ),
    tables: new Set(tables.split('\n').map((line) => line.replace(/^table /, ''))),
  };
}
