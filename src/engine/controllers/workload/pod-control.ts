import { Pod } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import type { Environment } from '../environment.ts';
import type { NewObject } from './model/pod-from-template.ts';

/** Creates and deletes Pods for an owner and says so in its events. */
export class PodControl {
  #environment: Pick<Environment, 'client' | 'events'>;

  constructor(environment: Pick<Environment, 'client' | 'events'>) {
    this.#environment = environment;
  }

  /** Undefined when the namespace is going away: then nothing can be created and nothing is missing. */
  async create(owner: KubeObject, pod: NewObject, signal?: AbortSignal): Promise<KubeObject | undefined> {
    const { client, events } = this.#environment;
    try {
      const created = await client.resource(Pod, owner.metadata.namespace).create(pod, { signal });
      events.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${created.metadata.name}` });
      return created;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      events.record(owner, { type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${errorText(error)}` });
      throw error;
    }
  }

  /** A Pod that is gone already, or another of the same name by now, needs no deletion. */
  async delete(owner: KubeObject, pod: KubeObject, signal?: AbortSignal): Promise<void> {
    const { client, events } = this.#environment;
    const { namespace, name, uid } = pod.metadata;
    try {
      await client.resource(Pod, namespace).delete(name!, { preconditions: { uid }, signal });
      events.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
    } catch (error) {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return;
      events.record(owner, { type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${errorText(error)}` });
      throw error;
    }
  }
}

export function isNamespaceTerminating(error: unknown): boolean {
  return isStatusError(error) && error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}
