import { forbiddenError, type StatusError } from '../../../kube/status.ts';
import type { AdmissionRequest } from './admission.ts';

/** The name a refusal shows: of the request, else of the object, else what the object's name will be made from. */
export function requestedName(request: AdmissionRequest): string {
  if (request.name !== '') return request.name;
  const metadata = request.object?.metadata;
  return metadata?.name || metadata?.generateName || 'Unknown';
}

/** `<resource> "<name>" is forbidden: <detail>`. */
export function refusal(request: AdmissionRequest, detail: string): StatusError {
  return forbiddenError(request.resource, requestedName(request), detail);
}

/** Several findings as Kubernetes' aggregate error prints them: one bare, more in brackets, each text once. */
export function aggregateText(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`;
}

/** The namespace a request is about; a Namespace is about itself. */
export function effectiveNamespace(request: AdmissionRequest): string {
  if (request.namespace === '' && isNamespaceResource(request)) return request.name || (request.object?.metadata.name ?? '');
  return request.namespace;
}

export function isNamespaceResource(request: AdmissionRequest): boolean {
  return request.resource.resource === 'namespaces' && request.resource.group === '';
}

/** Whether the request is on this resource of this group, whatever the version. */
export function isOn(request: AdmissionRequest, group: string, resource: string): boolean {
  return request.resource.resource === resource && request.resource.group === group;
}
