import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { ResourceList } from '../../environment/container-resource.ts';

/** How large a volume in memory may become: no larger than the node, the Pod's memory limit, or the limit of the volume. */
export function memoryVolumeSize(pod: KubeObject, sizeLimit: string | undefined, allocatable: ResourceList): number | undefined {
  const bounds = [bytes(allocatable.memory), podMemoryLimit(pod), bytes(sizeLimit)].filter((bound) => bound !== undefined && bound > 0);
  return bounds.length === 0 ? undefined : Math.min(...(bounds as number[]));
}

/** Undefined when one of the containers has no limit. */
function podMemoryLimit({ spec }: KubeObject): number | undefined {
  const ofPod = bytes(spec?.resources?.limits?.memory);
  if (ofPod !== undefined) return ofPod;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }: Json) => restartPolicy === 'Always');
  const limits: (number | undefined)[] = [...(spec?.containers ?? []), ...sidecars].map(({ resources }: Json) =>
    bytes(resources?.limits?.memory),
  );
  return limits.includes(undefined) ? undefined : limits.reduce<number>((sum, limit) => sum + limit!, 0);
}

function bytes(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : Quantity.parse(quantity).value();
}
