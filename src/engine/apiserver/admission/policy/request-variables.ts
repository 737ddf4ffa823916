import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { AdmissionRequest } from '../admission.ts';
import { reviewOf, type Invocation } from '../webhook/review.ts';
import type { ExpressionVariables } from './expression.ts';

/** The variables every expression sees. */
export function requestVariables(request: AdmissionRequest, invocation: Invocation): ExpressionVariables {
  return { object: invocation.object ?? null, oldObject: invocation.oldObject ?? null, request: requestVariable(request, invocation) };
}

/** Objects have their own variables, and there is no uid: nothing was sent anywhere. */
function requestVariable(request: AdmissionRequest, invocation: Invocation): Json {
  const { uid: _uid, object: _object, oldObject: _oldObject, ...rest } = reviewOf(request, invocation, 'v1', '').request!;
  return rest;
}

const NAMESPACE_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
] as const;

/** A namespace without what only its controllers care about. */
export function namespaceVariable({ apiVersion, kind, metadata, spec, status }: KubeObject): Json {
  const shown: Json = {};
  for (const field of NAMESPACE_FIELDS) if (metadata[field] !== undefined) shown[field] = metadata[field];
  return { apiVersion, kind, metadata: shown, spec: spec ?? {}, status: status ?? {} };
}
