import type { KubeObject } from '../../../kube/object.ts';
import type { AdmissionOperation, AdmissionRequest } from '../admission/admission.ts';
import type { ApiRequest } from '../chain/request.ts';
import type { Resource } from '../registry/resource.ts';

/** The admission's view of a write. */
export function admissionRequest(
  resource: Resource,
  request: ApiRequest,
  write: {
    operation: AdmissionOperation;
    subresource?: string;
    object?: KubeObject;
    oldObject?: KubeObject;
    name: string;
    namespace: string;
    options: object;
    dryRun: boolean;
  },
): AdmissionRequest {
  return {
    operation: write.operation,
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    kind: { group: resource.group, version: resource.version, kind: resource.kind },
    subresource: write.subresource ?? '',
    namespace: write.namespace,
    name: write.name,
    user: request.user,
    object: write.object,
    oldObject: write.oldObject,
    options: write.options as Record<string, unknown>,
    dryRun: write.dryRun,
    warn: (text) => void request.warnings.push(text),
    annotate: (key, value) => {
      request.auditAnnotations[key] = value;
    },
    get signal() {
      return request.signal;
    },
  };
}
