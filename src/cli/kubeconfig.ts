import { existsSync, readFileSync } from 'node:fs';

/** Prints the admin kubeconfig, or where it is. */
export function printKubeconfig(path: string, pathOnly: boolean): void {
  if (!existsSync(path)) {
    throw new Error(`Cannot find the kubeconfig "${path}": no instance was started there yet; run \`tenantry up\` first`);
  }
  process.stdout.write(pathOnly ? `${path}\n` : readFileSync(path, 'utf8'));
}
