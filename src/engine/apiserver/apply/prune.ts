import type { Json } from '../../../kube/object.ts';
import type { Sliced } from '../schema/slices.ts';
import { difference, intersection, union, type FieldSet } from './field-set.ts';
import { statedFields, withNamedFields } from './owned-fields.ts';
import { removeFields } from './remove-fields.ts';
import type { ValueType } from './value-type.ts';

/**
 * Takes out of a merged object what its manager applied last time and does not apply now, unless somebody else owns it.
 * @param last what the manager owned before
 * @param owned what all managers own now, this one included
 */
export function* pruneUnowned(type: ValueType, merged: Json, last: FieldSet | undefined, owned: readonly FieldSet[]): Sliced<Json> {
  if (last === undefined) return merged;
  const lastFields = withNamedFields(last, type);
  yield;
  const bare = removeFields(type, merged, lastFields);
  yield;
  const mergedFields = withNamedFields(statedFields(type, merged), type);
  yield;
  let wanted: FieldSet | undefined;
  for (const set of owned) {
    wanted = union(wanted, set);
    yield;
  }
  const kept = union(fieldsOf(type, bare), withNamedFields(wanted, type));
  yield;
  const restored = removeFields(type, merged, difference(mergedFields, kept));
  yield;
  // What was in nobody's set before (the applier's included) is not this apply's to remove.
  return removeFields(type, merged, intersection(difference(mergedFields, fieldsOf(type, restored)), lastFields));
}

function fieldsOf(type: ValueType, value: Json): FieldSet | undefined {
  return withNamedFields(statedFields(type, value), type);
}
