import type { ImageConfig } from '../../images/images.ts';
import { ContainerError, type ContainerSpec } from '../driver.ts';

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A command of the Pod stands in for all of the image's; arguments alone go to the image's entry point. */
export function commandLine({ command, args }: Pick<ContainerSpec, 'command' | 'args'>, image: ImageConfig): string[] {
  const ownCommand = command && command.length > 0 ? command : undefined;
  const ownArgs = args && args.length > 0 ? args : undefined;
  const line = ownCommand ? [...ownCommand, ...(ownArgs ?? [])] : [...image.entrypoint, ...(ownArgs ?? image.cmd)];
  if (line.length === 0) throw new ContainerError('CreateContainerError', 'no command specified');
  return line;
}

/** `NAME=value`, the Pod's over the image's over what every container has. `programFolder`: where else programs are found, last. */
export function environment(
  { env, hostname, terminal }: Pick<ContainerSpec, 'env' | 'hostname' | 'terminal'>,
  image: ImageConfig,
  programFolder?: string,
): string[] {
  const all = new Map<string, string>([['PATH', DEFAULT_PATH]]);
  if (terminal) all.set('TERM', 'xterm');
  all.set('HOSTNAME', hostname);
  for (const variable of image.env) {
    const equals = variable.indexOf('=');
    if (equals > 0) all.set(variable.slice(0, equals), variable.slice(equals + 1));
  }
  if (programFolder) all.set('PATH', pathWith(all.get('PATH') ?? '', programFolder));
  for (const [name, value] of Object.entries(env)) all.set(name, value);
  return [...all].map(([name, value]) => `${name}=${value}`);
}

function pathWith(path: string, folder: string): string {
  return path.split(':').includes(folder) ? path : `${path}:${folder}`;
}
