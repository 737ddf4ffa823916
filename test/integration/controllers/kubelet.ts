import type { Client } from '../../../src/client/client.ts';
import { Pod } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';
import { formatTime } from '../../../src/kube/time.ts';

/** Plays the node: says of Pods what a kubelet would. */
export class Kubelet {
  #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async pods(namespace: string, labelSelector?: string): Promise<KubeObject[]> {
    return (await this.#client.resource<KubeObject>(Pod, namespace).list({ labelSelector })).items;
  }

  /** Running and ready. */
  run(pod: KubeObject): Promise<KubeObject> {
    return this.#report(pod, { phase: 'Running', conditions: [condition('Ready', 'True')] });
  }

  unready(pod: KubeObject): Promise<KubeObject> {
    return this.#report(pod, { phase: 'Running', conditions: [condition('Ready', 'False')] });
  }

  succeed(pod: KubeObject): Promise<KubeObject> {
    return this.#report(pod, { phase: 'Succeeded', containerStatuses: [terminated(pod, 0)] });
  }

  fail(pod: KubeObject, exitCode = 1): Promise<KubeObject> {
    return this.#report(pod, { phase: 'Failed', containerStatuses: [terminated(pod, exitCode)] });
  }

  /** Every Pod of the namespace that is not running yet. */
  async runAll(namespace: string): Promise<void> {
    for (const pod of await this.pods(namespace)) {
      const waiting = pod.status?.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined;
      if (waiting) await this.run(pod).catch(() => {});
    }
  }

  #report({ metadata }: KubeObject, status: Json): Promise<KubeObject> {
    return this.#client.resource<KubeObject>(Pod, metadata.namespace).status.patch(metadata.name!, { type: 'merge', patch: { status } });
  }
}

function condition(type: string, status: string): Json {
  return { type, status, lastTransitionTime: formatTime(new Date()) };
}

function terminated(pod: KubeObject, exitCode: number): Json {
  const { name, image } = pod.spec.containers[0];
  const at = formatTime(new Date());
  const state = { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt: at, finishedAt: at } };
  return { name, image, imageID: '', ready: false, restartCount: 0, state };
}
