/** How cgroups are mounted on this machine. */
export interface CgroupLayout {
  /** `v2`: one tree for everything. `v1`: trees per controller; a v2 tree without controllers may be mounted beside them (hybrid). */
  version: 'v1' | 'v2';
  /** Where each controller's tree is mounted. For v2, `unified` alone. */
  controllers: ReadonlyMap<string, string>;
  /** Every tree once: where a cgroup's folders are. */
  trees: readonly string[];
}

/** What limits need. A machine without one of these in v1 cannot hold a container to them. */
export const NEEDED_CONTROLLERS = ['cpu', 'memory', 'pids'] as const;

/** Mount options of v1 trees that are not controllers. */
const NOT_CONTROLLERS = new Set(['rw', 'ro', 'xattr', 'clone_children', 'noprefix', 'none']);

/** Undefined when there are no cgroups at all. */
export function parseCgroupLayout(mountinfo: string): CgroupLayout | undefined {
  const controllers = new Map<string, string>();
  const trees = new Set<string>();
  let unified: string | undefined;
  for (const line of mountinfo.split('\n')) {
    const mount = parseMount(line);
    if (mount?.type === 'cgroup2') unified ??= mount.target;
    if (mount?.type !== 'cgroup') continue;
    const names = mount.superOptions.filter((option) => !NOT_CONTROLLERS.has(option));
    // A tree that is mounted at a second place is the same tree.
    if (names.length === 0 || names.some((name) => controllers.has(name))) continue;
    for (const name of names) controllers.set(name, mount.target);
    trees.add(mount.target);
  }
  if (controllers.has('memory') || controllers.has('pids')) {
    if (unified) trees.add(unified);
    return { version: 'v1', controllers, trees: [...trees] };
  }
  if (!unified) return undefined;
  return { version: 'v2', controllers: new Map([['unified', unified]]), trees: [unified] };
}

interface MountLine {
  target: string;
  type: string;
  superOptions: string[];
}

/** `36 35 98:0 /root /target options optional... - type source superOptions`. */
function parseMount(line: string): MountLine | undefined {
  const [before, after] = line.split(' - ');
  const target = before?.split(' ')[4];
  const [type, , superOptions] = after?.split(' ') ?? [];
  if (!target || !type) return undefined;
  return { target: unescapeMountPath(target), type, superOptions: superOptions?.split(',') ?? [] };
}

/** The kernel writes spaces, tabs, newlines and backslashes in paths as octal numbers. */
export function unescapeMountPath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
