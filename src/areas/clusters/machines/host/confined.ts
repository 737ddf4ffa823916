import { MOST_PROCESSES, type Boot, type Command } from './backend.ts';

/** Who it is: nobody else, without a right or a way to get one. */
export function asItsUser(setpriv: string, user: number, command: readonly string[], group?: number): string[] {
  const groups = group === undefined ? '--clear-groups' : `--groups=${group}`;
  const confinement = [`--reuid=${user}`, `--regid=${user}`, groups, '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
  return [setpriv, ...confinement, '--', ...command];
}

/** Where it is, and how many it may be: the limit counts for the user that it becomes. */
export function inItsNetwork({ wanted }: Pick<Boot, 'wanted'>, command: readonly string[]): Command {
  const limited = [`--nproc=${MOST_PROCESSES}`, '--', ...command];
  const namespace = wanted?.network.device.namespace;
  // A guest that is only tried has no network at all.
  if (wanted === undefined) return { program: 'unshare', args: ['--net', '--', 'prlimit', ...limited] };
  if (namespace === undefined) return { program: 'prlimit', args: limited };
  return { program: 'nsenter', args: [`--net=${namespace}`, '--', 'prlimit', ...limited] };
}
