import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, controlPlanePrograms, type Binary, type Release } from '../cluster/binaries.ts';

/** The one that clusters are upgraded from, in a Go module of its own. */
export const EARLIER: Release = { version: '1.34.4', module: join(process.cwd(), 'test/full/kubernetes-1.34') };

const OF_A_VERSION: readonly Binary[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/**
 * A folder with the programs of the present Kubernetes, and in it folders for the one before it and for versions whose programs only say what
 * they are. Whoever asked removes it.
 */
export async function severalPrograms(broken: readonly string[]): Promise<string> {
  const folder = await controlPlanePrograms();
  const inner = (version: string) => join(folder, version);
  for (const version of [EARLIER.version, ...broken]) {
    mkdirSync(inner(version));
    chmodSync(inner(version), 0o755);
  }
  for (const name of OF_A_VERSION) {
    copyFileSync(await binary(name, undefined, EARLIER), join(inner(EARLIER.version), name));
    for (const version of broken) {
      const path = join(inner(version), name);
      writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && exec echo "Kubernetes v${version}"\necho "cannot be started" >&2\nexit 1\n`);
      chmodSync(path, 0o755);
    }
  }
  return folder;
}
