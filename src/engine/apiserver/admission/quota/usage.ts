import type { GroupResource, KubeObject } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import { addTo, fromResourceList, type ResourceList } from '../../../../kube/resource-list.ts';
import { turns } from '../../../../lib/turn-queue.ts';
import { isInAllScopes } from './evaluator.ts';
import { Evaluators } from './object-evaluators.ts';

/** Objects that are counted between two looks at the time: there may be a hundred thousand. */
const OBJECTS_PER_STEP = 32;

/**
 * What a quota's namespace uses of everything it limits, counted from the objects themselves: `status.used` of the quota.
 * `objects` gives those of one resource in the quota's namespace; undefined for a resource that does not exist,
 * whose names then stay out of the result.
 */
export async function calculateUsage(
  quota: KubeObject,
  objects: (resource: GroupResource) => Iterable<KubeObject> | undefined,
  now: () => number,
): Promise<Record<string, string>> {
  const names = Object.keys(quota.spec?.hard ?? {});
  const used: ResourceList = new Map();
  let counted = 0;
  for (const evaluator of new Evaluators(now).tracking(names)) {
    const tracked = names.filter((name) => evaluator.tracks(name));
    const candidates = objects(evaluator.resource);
    if (!candidates) continue;
    for (const name of tracked) if (!used.has(name)) used.set(name, Quantity.zero);
    for (const object of candidates) {
      if (++counted % OBJECTS_PER_STEP === 0) await turns.share();
      if (!isInAllScopes(evaluator, quota, object)) continue;
      const usage = evaluator.usage(object);
      addTo(used, new Map(tracked.filter((name) => usage.has(name)).map((name) => [name, usage.get(name)!])));
    }
  }
  return fromResourceList(used);
}

/** The resources whose changes can change what a quota's namespace uses. */
export function trackedResources(quota: KubeObject): GroupResource[] {
  const names = Object.keys(quota.spec?.hard ?? {});
  return new Evaluators(() => 0).tracking(names).map((evaluator) => evaluator.resource);
}
