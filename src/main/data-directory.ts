import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where an instance keeps everything: `--data`, else TENANTRY_DATA, else `~/.tenantry`. */
export function dataDirectory(flag: string | undefined): string {
  // A variable that is set to nothing means nothing, not the current directory.
  return resolve(flag ?? (process.env.TENANTRY_DATA || join(homedir(), '.tenantry')));
}

export function kubeconfigPath(data: string): string {
  return join(data, 'kubeconfig');
}
