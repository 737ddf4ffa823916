import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError } from '../../../kube/status.ts';

/** The container that is meant: the one named, or the only one. @throws StatusError in Kubernetes' words. */
export function chooseContainer(pod: KubeObject, container: string): string {
  const name = pod.metadata.name!;
  const containers: Json[] = pod.spec?.containers ?? [];
  const all: Json[] = [...(pod.spec?.initContainers ?? []), ...containers, ...(pod.spec?.ephemeralContainers ?? [])];
  if (container !== '') {
    if (!all.some((candidate) => candidate.name === container)) {
      throw badRequestError(`container ${container} is not valid for pod ${name}`);
    }
    return container;
  }
  if (containers.length === 1) return containers[0].name;
  if (containers.length === 0) throw badRequestError(`a container name must be specified for pod ${name}`);
  const names = all.map((candidate) => candidate.name).join(' ');
  throw badRequestError(`a container name must be specified for pod ${name}, choose one of: [${names}]`);
}
