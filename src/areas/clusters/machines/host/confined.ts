import type { Boot, Command } from './backend.ts';

/** The program as the machine's user, without a right or a way to get one, in the namespace of its tap. */
export function confined({ user, wanted }: Boot, command: readonly string[], group?: number): Command {
  const groups = group === undefined ? '--clear-groups' : `--groups=${group}`;
  const confinement = [`--reuid=${user}`, `--regid=${user}`, groups, '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
  const alone = ['setpriv', ...confinement, '--', ...command];
  const namespace = wanted?.network.device.namespace;
  // A guest that is only tried has no network at all.
  if (wanted === undefined) return { program: 'unshare', args: ['--net', '--', ...alone] };
  if (namespace === undefined) return { program: alone[0], args: alone.slice(1) };
  return { program: 'nsenter', args: [`--net=${namespace}`, '--', ...alone] };
}
