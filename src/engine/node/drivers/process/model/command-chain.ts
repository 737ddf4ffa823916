import { quoted } from './environment-script.ts';
import { limitScript, type ProcessLimits } from './resource-limits.ts';
import type { ContainerUser } from './container-user.ts';

/**
 * A container's program is reached through a chain of programs, each of which becomes the next: the outer shell, the tools that make
 * the sandbox, the inner shell, the program. Descriptor 3 is where it says that it is ready, 4 the environment.
 */

/** Opens the environment while it still sees it, and joins the container's cgroup (any number of files before `--`). */
const OUTER = 'exec 4<"$1"; shift; while [ "$1" != -- ]; do echo $$ > "$1" || exit 1; shift; done; shift; exec "$@"';

export interface Chain {
  /** A script for the inner shell, which belongs to the container's user. */
  environmentFile: string;
  cgroupFiles: readonly string[];
  /** What makes or enters the sandbox; empty when there is none. */
  tools: string[];
  inner: InnerShell;
}

export interface InnerShell {
  limits: ProcessLimits;
  workingDir: string;
  /** Whether somebody waits at descriptor 3. */
  saysWhenReady: boolean;
  command: string[];
}

export function commandChain({ environmentFile, cgroupFiles, tools, inner }: Chain): string[] {
  // With nothing in between, one shell is enough: every program on the way costs a millisecond.
  if (tools.length === 0 && cgroupFiles.length === 0) return innerShell(inner, environmentFile);
  const rest = [...tools, ...innerShell(inner, '/proc/self/fd/4')];
  return ['/bin/sh', '-c', OUTER, 'tenantry', environmentFile, ...cgroupFiles, '--', ...rest];
}

function innerShell({ limits, workingDir, saysWhenReady, command }: InnerShell, environment: string): string[] {
  const script = [
    limitScript(limits),
    'cd -- "$1" || exit 1; shift',
    `. ${quoted(environment)}; exec 4<&-`,
    ...(saysWhenReady ? ['echo >&3; exec 3>&-'] : []),
    'exec "$@"',
  ].join('; ');
  return ['/bin/sh', '-c', script, 'tenantry', workingDir, ...command];
}

/** From root to the container's user, with no way back. */
export function dropPrivileges(setpriv: string, { uid, gid, groups }: ContainerUser): string[] {
  return [
    [setpriv, '--reuid', String(uid), '--regid', String(gid)],
    groups.length > 0 ? ['--groups', groups.join(',')] : ['--clear-groups'],
    ['--inh-caps', '-all', '--bounding-set', '-all', '--no-new-privs', '--'],
  ].flat();
}

/**
 * A process of another process namespace than the leader of its terminal cannot tell whose turn it is there: shells fail. So it
 * becomes the leader itself.
 */
export function leadTerminal(setsid: string): string[] {
  return [setsid, '--ctty', '--'];
}

export function enterNetwork(nsenter: string, namespace: string): string[] {
  return [nsenter, `--net=${namespace}`, '--'];
}

/** Into the sandbox that a process is in. Without root its user namespace comes first, which is what gives the right to the rest. */
export function enterSandbox(nsenter: string, pid: number, options: { ownUserNamespace: boolean; network: boolean }): string[] {
  return [
    [nsenter, '--target', String(pid), '--mount', '--pid', '--ipc', '--uts'],
    options.network ? ['--net'] : [],
    options.ownUserNamespace ? ['--user', '--preserve-credentials'] : [],
    ['--'],
  ].flat();
}
