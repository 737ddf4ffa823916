import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { instanceClient } from '../cli/instance.ts';
import { Pod } from '../client/kinds.ts';
import { socketPath } from '../engine/node/shim/shim-paths.ts';
import { kubeconfigPath } from './data-directory.ts';

/** Digests of the images that Pods of an instance run. @throws Error when containers run and nobody can say of what */
export async function imagesInUse(data: string): Promise<Set<string>> {
  const kubeconfig = kubeconfigPath(data);
  const told = existsSync(kubeconfig) ? await askPods(kubeconfig).catch(() => undefined) : undefined;
  if (told !== undefined) return told;
  // Containers outlive a crash of the instance; their shim does not outlive them.
  if (await answers(socketPath(join(data, 'node')))) {
    throw new Error(
      `Cannot tell which images are in use: containers of "${data}" run, but the instance does not answer; run \`tenantry up\` first`,
    );
  }
  return new Set();
}

async function askPods(kubeconfig: string): Promise<Set<string>> {
  const { client } = await instanceClient(kubeconfig);
  try {
    const digests = new Set<string>();
    for await (const pod of client.resource(Pod).items()) {
      const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
      for (const { imageID } of [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses]) {
        digests.add(imageID.slice(imageID.lastIndexOf('@') + 1));
      }
    }
    return digests;
  } finally {
    await client.close();
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
