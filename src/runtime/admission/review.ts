import { isJsonObject } from '../../kube/json-value.ts';
import type { GroupVersionKind, GroupVersionResource, Json, KubeObject } from '../../kube/object.ts';
import { isStatusError, type Status } from '../../kube/status.ts';
import { errorText } from '../../lib/log.ts';
import { jsonPatchDifference, type JsonPatchEntry } from './json-patch-difference.ts';

/** The request of an AdmissionReview (admission.k8s.io/v1). */
export interface AdmissionReviewRequest {
  uid: string;
  kind: GroupVersionKind;
  resource: GroupVersionResource;
  subResource?: string;
  requestKind?: GroupVersionKind;
  requestResource?: GroupVersionResource;
  requestSubResource?: string;
  name?: string;
  namespace?: string;
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  userInfo: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  object?: KubeObject | null;
  oldObject?: KubeObject | null;
  dryRun?: boolean;
  options?: Json;
}

export type AdmissionVerdict =
  /** `object` is what the request's object should become; left out, it stays. */
  | { allowed: true; object?: KubeObject; warnings?: string[]; auditAnnotations?: Record<string, string> }
  /** `code` is 403 unless said otherwise. */
  | {
      allowed: false;
      message: string;
      reason?: string;
      code?: number;
      details?: Status['details'];
      warnings?: string[];
      auditAnnotations?: Record<string, string>;
    };

/** A decision about one write. Pure: what it needs to know it reads from caches, and it changes nothing. */
export type AdmissionHandler = (request: AdmissionReviewRequest, signal: AbortSignal) => AdmissionVerdict | Promise<AdmissionVerdict>;

export interface AdmissionReview {
  apiVersion: 'admission.k8s.io/v1';
  kind: 'AdmissionReview';
  request?: AdmissionReviewRequest;
  response?: AdmissionReviewResponse;
}

export interface AdmissionReviewResponse {
  uid: string;
  allowed: boolean;
  status?: Partial<Status>;
  patchType?: 'JSONPatch';
  /** Base64 of a JSON patch. */
  patch?: string;
  warnings?: string[];
  auditAnnotations?: Record<string, string>;
}

/**
 * Answers an AdmissionReview: what a webhook server does with a body, and what the embedded engine calls without one.
 * A handler that throws refuses the request with 500, so that the webhook's failurePolicy does not hide a bug as an outage.
 */
export async function answerReview(handler: AdmissionHandler, review: unknown, signal: AbortSignal): Promise<AdmissionReview> {
  const request = requestOf(review);
  let verdict: AdmissionVerdict;
  try {
    verdict = await handler(request, signal);
  } catch (error) {
    verdict = isStatusError(error)
      ? { allowed: false, message: error.message, reason: error.reason, code: error.code, details: error.status.details }
      : { allowed: false, message: `the admission handler failed: ${errorText(error)}`, reason: 'InternalError', code: 500 };
  }
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: responseOf(request, verdict) };
}

/** A body that is not an AdmissionReview of a version that we speak. */
export class NotAReview extends Error {}

function requestOf(review: unknown): AdmissionReviewRequest {
  if (!isJsonObject(review) || review.kind !== 'AdmissionReview') throw new NotAReview('the body is not an AdmissionReview');
  if (review.apiVersion !== 'admission.k8s.io/v1')
    throw new NotAReview(`AdmissionReview of version "${review.apiVersion}" is not supported; use v1`);
  const { request } = review;
  if (!isJsonObject(request) || typeof request.uid !== 'string' || request.uid === '')
    throw new NotAReview('the AdmissionReview has no request.uid');
  return request as unknown as AdmissionReviewRequest;
}

function responseOf(request: AdmissionReviewRequest, verdict: AdmissionVerdict): AdmissionReviewResponse {
  const response: AdmissionReviewResponse = { uid: request.uid, allowed: verdict.allowed };
  if (verdict.warnings?.length) response.warnings = verdict.warnings;
  if (verdict.auditAnnotations) response.auditAnnotations = verdict.auditAnnotations;
  if (!verdict.allowed) {
    const { message, reason = 'Forbidden', code = 403, details } = verdict;
    response.status = { message, reason, code, ...(details ? { details } : {}) };
    return response;
  }
  const patch: JsonPatchEntry[] = verdict.object && request.object ? jsonPatchDifference(request.object, verdict.object) : [];
  if (patch.length > 0) {
    response.patchType = 'JSONPatch';
    response.patch = Buffer.from(JSON.stringify(patch)).toString('base64');
  }
  return response;
}
