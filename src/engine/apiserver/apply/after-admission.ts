import { deepEqual } from '../../../kube/json-value.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../kube/object.ts';
import { readManagedFields } from './managed-entries.ts';

/**
 * Mutating webhooks written against old libraries can mangle managedFields. What they leave must be readable, or the entries from
 * before admission come back and the client is warned.
 */
export function restoreManagedFields(object: KubeObject, before: ManagedFieldsEntry[] | undefined, warn: (text: string) => void): void {
  const after = object.metadata.managedFields;
  if (after === before || deepEqual(after, before)) return;
  try {
    readManagedFields(after ?? []);
  } catch (error) {
    const cause = 'this could be caused by an outdated mutating admission controller; please fix your requests';
    warn(`.metadata.managedFields was in an invalid state after admission; ${cause}: ${(error as Error).message}`);
    if (before === undefined) delete object.metadata.managedFields;
    else object.metadata.managedFields = before;
  }
}
