import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';

const MIRROR = 'kubernetes.io/config.mirror';
/** A node runs fewer. Who has made more of them waits for the next round, or for the end of the drain. */
const AT_ONCE = 500;

type Evicted = Pick<ObjectMeta, 'name' | 'namespace' | 'uid'>;

/** Which Pods of a node are asked to go, and how many have to go in all, as far as they are looked at. Those of DaemonSets would only come again. */
export async function podsToEvict(pods: AsyncIterable<KubeObject>): Promise<{ left: number; evict: Evicted[] }> {
  let left = 0;
  const evict: Evicted[] = [];
  for await (const pod of pods) {
    if (!hasToGo(pod)) continue;
    left++;
    const { name, namespace, uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp === undefined) evict.push({ name, namespace, uid });
    if (left === AT_ONCE) break;
  }
  return { left, evict };
}

function hasToGo({ metadata, status }: KubeObject): boolean {
  return (
    metadata.annotations?.[MIRROR] === undefined &&
    !metadata.ownerReferences?.some(({ kind, controller }) => controller === true && kind === 'DaemonSet') &&
    status?.phase !== 'Succeeded' &&
    status?.phase !== 'Failed'
  );
}
