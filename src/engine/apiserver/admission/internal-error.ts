import { failure, type StatusError } from '../../../kube/status.ts';

/** 500 in the words of Kubernetes. */
export function internalError(message: string): StatusError {
  return failure('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}
