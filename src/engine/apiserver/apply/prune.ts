import type { Json } from '../../../kube/object.ts';
import type { Sliced } from '../schema/slices.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, union } from './large/field-sets.ts';
import { statedFields, withNamedFields } from './large/owned-fields.ts';
import { removeFields } from './large/values.ts';
import type { ValueType } from './value-type.ts';

/**
 * Takes out of a merged object what its manager applied last time and does not apply now, unless somebody else owns it.
 * @param last what the manager owned before
 * @param owned what all managers own now, this one included
 */
export function* pruneUnowned(type: ValueType, merged: Json, last: FieldSet | undefined, owned: readonly FieldSet[]): Sliced<Json> {
  if (last === undefined) return merged;
  const lastFields = yield* withNamedFields(last, type);
  const bare = yield* removeFields(type, merged, lastFields);
  const mergedFields = yield* fieldsOf(type, merged);
  let wanted: FieldSet | undefined;
  for (const set of owned) wanted = yield* union(wanted, set);
  const kept = yield* union(yield* fieldsOf(type, bare), yield* withNamedFields(wanted, type));
  const restored = yield* removeFields(type, merged, yield* difference(mergedFields, kept));
  const gone = yield* difference(mergedFields, yield* fieldsOf(type, restored));
  // What was in nobody's set before (the applier's included) is not this apply's to remove.
  return yield* removeFields(type, merged, yield* intersection(gone, lastFields));
}

function* fieldsOf(type: ValueType, value: Json): Sliced<FieldSet | undefined> {
  return yield* withNamedFields(yield* statedFields(type, value), type);
}
