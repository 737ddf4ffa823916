import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';

/** Things are made only in namespaces that stay. */
export function isActive(namespace: KubeObject | undefined): boolean {
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined && namespace.status?.phase !== 'Terminating';
}

/** The namespace went, or is about to, between our look and our write: nothing is left to do. */
export function isLeavingNamespace(error: unknown): boolean {
  if (isStatusError(error, 'NotFound')) return true;
  return isStatusError(error) && error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true;
}
