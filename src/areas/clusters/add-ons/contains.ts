import { isJsonObject } from '../../../kube/json-value.ts';

/** Whether everything that is wanted is there: as an apply would leave it, which takes away nothing that others have added to maps. */
export function contains(existing: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(existing) && existing.length === wanted.length && wanted.every((each, index) => contains(existing[index], each));
  }
  if (!isJsonObject(wanted)) return existing === wanted;
  return isJsonObject(existing) && Object.entries(wanted).every(([key, value]) => value === undefined || contains(existing[key], value));
}
