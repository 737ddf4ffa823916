import type { KubeObject } from '../../../kube/object.ts';
import { notFoundError } from '../../../kube/status.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { isNamespaceResource, isOn, refusal } from './refusal.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

/** Objects live in namespaces that exist and are not on their way out; the three system namespaces stay. */
export function namespaceLifecycle(reader: ObjectReader): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: (request) =>
      isNamespaceResource(request)
        ? request.operation === 'DELETE' && request.subresource === ''
        : request.namespace !== '' && (request.operation === 'CREATE' || request.operation === 'UPDATE'),
    mutate(request) {
      if (isNamespaceResource(request)) return refuseImmortal(request);
      // Whoever may not know whether a namespace exists must not learn it from an access review.
      if (isOn(request, 'authorization.k8s.io', 'localsubjectaccessreviews')) return;
      refuseAbsentOrLeaving(reader.get(NAMESPACES, '', request.namespace), request);
    },
  };
}

/** @throws StatusError when the namespace of a write is not there, or is going and the write would add to it. */
export function refuseAbsentOrLeaving(namespace: KubeObject | undefined, request: AdmissionRequest): void {
  if (!namespace) throw notFoundError(NAMESPACES, request.namespace);
  if (request.operation === 'CREATE' && namespace.status?.phase === 'Terminating') throw terminating(request);
}

function refuseImmortal(request: AdmissionRequest): void {
  if (IMMORTAL.has(request.name)) throw refusal(request, 'this namespace may not be deleted');
}

function terminating(request: AdmissionRequest): Error {
  const namespace = request.namespace;
  const error = refusal(request, `unable to create new content in namespace ${namespace} because it is being terminated`);
  error.status.details!.causes = [
    { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
  ];
  return error;
}
