import type { GroupVersionKind, GroupVersionResource, Json, KubeObject } from '../../../../kube/object.ts';
import type { UserInfo } from '../../auth/user.ts';
import type { AdmissionOperation, AdmissionRequest } from '../admission.ts';
import { effectiveNamespace } from '../refusal.ts';

/** What travels to a webhook and back. */
export interface AdmissionReview {
  apiVersion: string;
  kind: 'AdmissionReview';
  request?: ReviewRequest;
  response?: ReviewResponse;
}

export interface ReviewRequest {
  uid: string;
  kind: GroupVersionKind;
  resource: GroupVersionResource;
  subResource?: string;
  requestKind: GroupVersionKind;
  requestResource: GroupVersionResource;
  requestSubResource?: string;
  name?: string;
  namespace?: string;
  operation: AdmissionOperation;
  userInfo: { username: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  object: KubeObject | null;
  oldObject: KubeObject | null;
  dryRun: boolean;
  options: Json;
}

export interface ReviewResponse {
  uid: string;
  allowed: boolean;
  status?: Json;
  /** A JSON patch, as base64 of its JSON. */
  patch?: string;
  patchType?: string;
  auditAnnotations?: Record<string, string>;
  warnings?: string[];
}

/** The request as a webhook shall see it: in the version and of the resource its rules ask for. */
export interface Invocation {
  resource: GroupVersionResource;
  kind: GroupVersionKind;
  object?: KubeObject;
  oldObject?: KubeObject;
}

const KNOWN_VERSIONS = ['v1', 'v1beta1'];
const OPTIONS_KINDS: Partial<Record<AdmissionOperation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** The first version of AdmissionReview that both sides know. */
export function chooseReviewVersion(accepted: readonly string[]): string | undefined {
  return accepted.find((version) => KNOWN_VERSIONS.includes(version));
}

export function reviewOf(request: AdmissionRequest, invocation: Invocation, version: string, uid: string): AdmissionReview {
  const namespace = effectiveNamespace(request);
  const { kind, resource } = invocation;
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: {
      uid,
      kind: { group: kind.group, version: kind.version, kind: kind.kind },
      resource: { group: resource.group, version: resource.version, resource: resource.resource },
      ...(request.subresource && { subResource: request.subresource }),
      requestKind: request.kind,
      requestResource: request.resource,
      ...(request.subresource && { requestSubResource: request.subresource }),
      ...(request.name && { name: request.name }),
      ...(namespace && { namespace }),
      operation: request.operation,
      userInfo: userInfoOf(request.user),
      object: invocation.object ?? null,
      oldObject: invocation.oldObject ?? null,
      dryRun: request.dryRun,
      options: optionsOf(request),
    },
  };
}

function userInfoOf(user: UserInfo): ReviewRequest['userInfo'] {
  return {
    username: user.name,
    ...(user.uid && { uid: user.uid }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}

function optionsOf(request: AdmissionRequest): Json {
  const kind = OPTIONS_KINDS[request.operation];
  return kind === undefined ? null : { kind, apiVersion: 'meta.k8s.io/v1', ...request.options };
}

/** The answer, if it is one to this question. @throws Error with what is wrong with it. */
export function verifiedResponse(review: Json, sent: { uid: string; version: string; mutating: boolean }): ReviewResponse {
  const response: ReviewResponse | undefined = review?.response ?? undefined;
  if (response === undefined) throw new Error('webhook response was absent');
  if (sent.version === 'v1beta1') {
    return { ...response, patchType: response.patch ? 'JSONPatch' : undefined, patch: sent.mutating ? response.patch : undefined };
  }
  if (response.uid !== sent.uid) throw new Error(`expected response.uid="${sent.uid}", got "${response.uid ?? ''}"`);
  const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';
  const actual = `${(review.apiVersion ?? '').includes('/') ? review.apiVersion : `/${review.apiVersion ?? ''}`}, Kind=${review.kind ?? ''}`;
  if (actual !== expected) throw new Error(`expected webhook response of ${expected}, got ${actual}`);
  if (sent.mutating) checkPatch(response);
  else {
    if (response.patch) throw new Error('validating webhook may not return response.patch');
    if (response.patchType !== undefined) throw new Error('validating webhook may not return response.patchType');
  }
  return response;
}

function checkPatch({ patch, patchType }: ReviewResponse): void {
  if (patch && patchType === undefined) throw new Error('webhook returned response.patch but not response.patchType');
  if (!patch && patchType !== undefined) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}
