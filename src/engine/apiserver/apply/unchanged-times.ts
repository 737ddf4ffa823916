import { equalInSlices, type Sliced } from '../../../kube/json-slices.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';

const METADATA = ['metadata'];
/** What the server writes into it itself. */
const SERVERS_PART = ['managedFields', 'resourceVersion'];
const TIME = ['time'];

/**
 * Takes back new times of managers when they are all that a write would change, so that repeating a write changes nothing. To be called when
 * the object is otherwise ready to be stored; `resourceVersion` is not compared.
 */
export function keepTimesIfUnchanged(old: KubeObject, next: KubeObject): void {
  const [before, after] = [old.metadata.managedFields, next.metadata.managedFields];
  if (!before || !after || before === after || before.length !== after.length) return;
  if (after.every((entry, i) => entry.time === before[i].time)) return;
  if (!after.every((entry, i) => equalBesides(entry, before[i], TIME))) return;
  if (equalBesides(old, next, METADATA) && equalBesides(old.metadata, next.metadata, SERVERS_PART)) next.metadata.managedFields = before;
}

/** The same with pauses, for objects of thousands of fields. */
export function* keepTimesIfUnchangedInSlices(old: KubeObject, next: KubeObject): Sliced<void> {
  const [before, after] = [old.metadata.managedFields, next.metadata.managedFields];
  if (!before || !after || before === after || before.length !== after.length) return;
  if (after.every((entry, i) => entry.time === before[i].time)) return;
  for (const [i, entry] of after.entries()) if (!(yield* equalInSlices({ ...entry, time: before[i].time }, before[i]))) return;
  if (yield* equalInSlices(withoutServersPart(old), withoutServersPart(next))) next.metadata.managedFields = before;
}

/** Compares field by field: copies without the fields in question would cost more than the comparison. */
function equalBesides(a: Json, b: Json, besides: readonly string[]): boolean {
  let fields = 0;
  for (const key in a) {
    if (besides.includes(key)) continue;
    if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false;
    fields++;
  }
  for (const key in b) if (!besides.includes(key)) fields--;
  return fields === 0;
}

function withoutServersPart({ metadata, ...rest }: KubeObject): unknown {
  const { managedFields: _entries, resourceVersion: _version, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
