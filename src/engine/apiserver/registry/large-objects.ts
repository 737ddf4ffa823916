import { parseStrictInSlices } from '../../../kube/json-parse-slices.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Entry } from '../../store/store.ts';
import { runInSlices } from '../schema/slices.ts';
import type { ObjectCache } from './object-cache.ts';

/** `ObjectCache.object` for one that is large: when it has to be parsed, others get their turn in between. */
export async function largeObject(cache: ObjectCache, entry: Entry): Promise<KubeObject> {
  return cache.cached(entry) ?? cache.remember(entry, await runInSlices(parseStrictInSlices(entry.bytes)));
}
