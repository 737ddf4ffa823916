import { dirname } from 'node:path';

/** Something that every Run sees, read-only: at its own place, or from another one (`source`). `link`: as the machine has it (`/bin -> usr/bin`). */
export type SystemEntry = { kind: 'shown'; path: string; source?: string } | { kind: 'link'; path: string; to: string };

/** Who a Run is: a user of the machine that nobody else is, or, without the right to become one, somebody in a user namespace of its own. */
export type RunUser = { kind: 'own'; setpriv: string; uid: number } | { kind: 'namespace' };

export interface SandboxPlan {
  bwrap: string;
  user: RunUser;
  /** The Pod's network; otherwise there is nothing but a loopback device of its own. */
  network: boolean;
  system: SystemEntry[];
  /** Shown at `workspace`; the Run's folder is moved into it. */
  slotFolder: string;
  workspace: string;
  /** Bytes that can be written to /tmp, and to /dev/shm. */
  temporaryBytes: number;
  /** Processes and threads at a time. */
  processes: number;
  /** Where bubblewrap reads the filter of system calls; absent: none. */
  filterDescriptor?: number;
  /** Open for writing: what waits for the Run joins them, and closes them before anything of the Run begins. */
  cgroupDescriptors: readonly number[];
  /**
   * Present: the first process of the sandbox is bubblewrap's own, one program less to start. Bubblewrap ends with the program then, and
   * who waits for the others in there has to wait for that process, of which it is told here. Absent: it is a shell, which ends after all
   * others and before bubblewrap.
   */
  first?: { optionsDescriptor: number; infoDescriptor: number };
}

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);
/** Whom a Run in a user namespace believes to be. */
const APPARENT_USER = '65532';

const TO_BECOME_A_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];

/** A script for a shell: it is limited by what comes from this on. */
function limited({ processes, cgroupDescriptors }: SandboxPlan): string {
  // The number 0 is whoever writes it.
  const join = cgroupDescriptors.map((descriptor) => `echo 0 >&${descriptor} || exit 1; exec ${descriptor}>&-; `).join('');
  return `${join}ulimit -c 0; ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes}; `;
}

/**
 * For a shell as the first process of the sandbox. Its end, which follows that of the program, is the end of everything in its process
 * namespace, and bubblewrap sees it only then. Its remarks on how the program ended are nobody's business.
 */
const FIRST_PROCESS = 'exec 9>&2 2>/dev/null; "$@" 2>&9 9>&-; exit $?';

/** Waits until the Run's folder is there; what it reads sets the environment. */
const GATE = 't=$(cat <&3); exec 3<&-; eval "$t"; unset t; exec "$@"';

/**
 * What runs in a sandbox. `gated`: a program that must wait for a message on descriptor 3. `warm`: one that waits by itself; `script` says
 * where in it a shell's script is, which can be added to.
 */
export type Inside = { kind: 'gated'; argv: string[] } | { kind: 'warm'; argv: string[]; script?: number };

/** Whether a sandbox for it can do without a shell as its first process: something else has to see to the limits. */
export function limitsItself(inside: Inside): boolean {
  return inside.kind === 'gated' || inside.script !== undefined;
}

/**
 * The command line that runs a program in a sandbox. Nothing of the Run itself is in it, nor in the environment it is started with:
 * what comes before the change of user would obey a LD_PRELOAD.
 */
export function sandboxCommand(plan: SandboxPlan, inside: Inside): string[] {
  const { bwrap, first, user } = plan;
  if (first === undefined) {
    const waiting = inside.kind === 'gated' ? ['/bin/sh', '-c', GATE, 'run', ...inside.argv] : inside.argv;
    return [bwrap, ...sandboxOptions(plan), '--', '/bin/sh', '-c', limited(plan) + FIRST_PROCESS, 'init', ...becomeUser(user), ...waiting];
  }
  const waiting =
    inside.kind === 'gated'
      ? ['/bin/sh', '-c', limited(plan) + GATE, 'run', ...inside.argv]
      : inside.argv.map((word, index) => (index === inside.script ? limited(plan) + word : word));
  // The options are read from a descriptor: Runs see the command line of the first process.
  return [bwrap, '--args', String(first.optionsDescriptor), '--', ...becomeUser(user), ...waiting];
}

/** Bubblewrap's own options. */
export function sandboxOptions(plan: SandboxPlan): string[] {
  const size = String(plan.temporaryBytes);
  return [
    ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--hostname', 'run', '--new-session', '--die-with-parent'],
    plan.first === undefined ? ['--as-pid-1'] : ['--info-fd', String(plan.first.infoDescriptor)],
    plan.network ? [] : ['--unshare-net'],
    plan.user.kind === 'own' ? [] : ['--unshare-user', '--uid', APPARENT_USER, '--gid', APPARENT_USER],
    ['--cap-drop', 'ALL', ...(plan.user.kind === 'own' ? TO_BECOME_A_USER.flatMap((name) => ['--cap-add', name]) : [])],
    systemOptions(plan.system),
    ['--dir', '/dev'],
    ...DEVICES.map((path) => ['--dev-bind-try', path, path]),
    ['--symlink', '/proc/self/fd', '/dev/fd'],
    ['--symlink', '/proc/self/fd/0', '/dev/stdin'],
    ['--symlink', '/proc/self/fd/1', '/dev/stdout'],
    ['--symlink', '/proc/self/fd/2', '/dev/stderr'],
    ['--perms', '1777', '--size', size, '--tmpfs', '/dev/shm', '--perms', '1777', '--size', size, '--tmpfs', '/tmp'],
    ['--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp', '--proc', '/proc'],
    ...parentsOf([plan.workspace]),
    ['--bind', plan.slotFolder, plan.workspace],
    plan.filterDescriptor === undefined ? [] : ['--seccomp', String(plan.filterDescriptor)],
    // What is left of the root is memory, which nobody counts.
    ['--remount-ro', '/', '--chdir', '/'],
  ].flat();
}

/** For each view of the system, of which a server has one for all its sandboxes. */
const known = new WeakMap<readonly SystemEntry[], string[]>();

function systemOptions(system: SystemEntry[]): string[] {
  const before = known.get(system);
  if (before !== undefined) return before;
  const entries = system.map((entry) =>
    entry.kind === 'link' ? ['--symlink', entry.to, entry.path] : ['--ro-bind', entry.source ?? entry.path, entry.path],
  );
  const options = [...parentsOf(system.map(({ path }) => path)), ...entries].flat();
  known.set(system, options);
  return options;
}

/** What bubblewrap makes by itself on its way to a mount would be closed to others than the owner. */
function parentsOf(paths: string[]): string[][] {
  const parents = new Set<string>();
  for (const path of paths) {
    for (let parent = dirname(path); parent !== '/'; parent = dirname(parent)) parents.add(parent);
  }
  const isShown = (folder: string) => paths.some((path) => folder === path || folder.startsWith(`${path}/`));
  return [...parents]
    .filter((parent) => !isShown(parent))
    .toSorted((a, b) => a.length - b.length)
    .map((parent) => ['--dir', parent]);
}

/** With no way back. Not before the first process: bubblewrap, itself without rights by then, could not take that one with it when it dies. */
function becomeUser(user: RunUser): string[] {
  if (user.kind === 'namespace') return [];
  const id = String(user.uid);
  return [
    [user.setpriv, '--reuid', id, '--regid', id, '--clear-groups'],
    ['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs', '--'],
  ].flat();
}

/** A name that a shell can export. Kubernetes allows others too. */
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What the gate is told: where to be, and the environment. */
export function gateMessage(workingDir: string, env: Record<string, string>): string {
  const entries = Object.entries(env);
  const exports = entries.filter(([name]) => SHELL_NAME.test(name)).map(([name, value]) => `export ${name}=${quoted(value)}`);
  // What the shell cannot name, a program can pass on.
  const others = entries.filter(([name]) => !SHELL_NAME.test(name)).map(([name, value]) => quoted(`${name}=${value}`));
  const passOn = others.length === 0 ? [] : [`set -- /usr/bin/env ${others.join(' ')} "$@"`];
  return [`cd ${quoted(workingDir)} || exit 126`, 'unset PWD OLDPWD', ...exports, ...passOn, ''].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
