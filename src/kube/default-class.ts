import type { ObjectMeta } from './object.ts';

export const DEFAULT_STORAGE_CLASS_ANNOTATIONS: readonly string[] = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** The newest of the classes that are marked as the default. The list is ordered by name, and of classes made in the same second the first name wins. */
export function newestMarked<T extends { metadata: ObjectMeta }>(classes: Iterable<T>, annotations: readonly string[]): T | undefined {
  let newest: T | undefined;
  for (const candidate of classes) {
    if (!annotations.some((annotation) => candidate.metadata.annotations?.[annotation] === 'true')) continue;
    if (!newest || (candidate.metadata.creationTimestamp ?? '') > (newest.metadata.creationTimestamp ?? '')) newest = candidate;
  }
  return newest;
}
