import { failure, StatusError } from '../../../../kube/status.ts';
import type { AdmissionOperation, AdmissionRequest } from '../admission.ts';
import { internalError } from '../internal-error.ts';
import { WebhookCallError, type WebhookClient } from './call.ts';
import type { CompiledWebhook } from './compiled-webhook.ts';
import { denial, dryRunUnsupported } from './denial.ts';
import { chooseReviewVersion, reviewOf, verifiedResponse, type Invocation, type ReviewResponse } from './review.ts';

export interface WebhookObservation {
  webhook: string;
  type: 'admit' | 'validating';
  operation: AdmissionOperation;
  rejected: boolean;
  /** The call failed and the policy is Ignore. */
  failedOpen: boolean;
  /** 200, or the code of the refusal; 0 for a failure of our own. */
  code: number;
  seconds: number;
}

export interface ConsultOptions {
  client: WebhookClient;
  newUid: () => string;
  observe?: (observation: WebhookObservation) => void;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

/**
 * Asks one webhook and does with its answer what is the same for both types: uid check, warnings, audit annotations, denial,
 * failure policy. `apply` gets the answer of a webhook that allows; what it throws as WebhookCallError counts as a failed call.
 * @returns false when the call failed and the policy is to ignore that.
 */
export async function consult(
  webhook: CompiledWebhook,
  type: WebhookObservation['type'],
  request: AdmissionRequest,
  invocation: Invocation,
  options: ConsultOptions,
  apply?: (response: ReviewResponse) => void | Promise<void>,
): Promise<boolean> {
  const started = options.now();
  const observe = (rejected: boolean, failedOpen: boolean, code: number) =>
    options.observe?.({
      webhook: webhook.name,
      type,
      operation: request.operation,
      rejected,
      failedOpen,
      code,
      seconds: (options.now() - started) / 1000,
    });
  try {
    const response = await answer(webhook, type === 'admit', request, invocation, options);
    await apply?.(response);
    observe(false, false, 200);
    return true;
  } catch (error) {
    if (!(error instanceof WebhookCallError)) {
      observe(true, false, error instanceof StatusError ? error.code : 0);
      throw error;
    }
    observe(!webhook.failsOpen, webhook.failsOpen, 503);
    if (!webhook.failsOpen) throw internalError(`failed calling webhook "${webhook.name}": ${error.message}`);
    if (request.signal.aborted) throw failure('Timeout', 'Timeout: request did not complete within requested timeout');
    return false;
  }
}

async function answer(
  webhook: CompiledWebhook,
  mutating: boolean,
  request: AdmissionRequest,
  invocation: Invocation,
  { client, newUid }: ConsultOptions,
): Promise<ReviewResponse> {
  if (request.dryRun && !webhook.supportsDryRun) throw dryRunUnsupported(webhook.name);
  const version = chooseReviewVersion(webhook.reviewVersions);
  if (version === undefined) {
    throw new WebhookCallError('could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  }
  const uid = newUid();
  const review = await client.call(webhook, reviewOf(request, invocation, version, uid), request.signal);
  const response = verified(review, { uid, version, mutating });
  for (const [key, value] of Object.entries(response.auditAnnotations ?? {})) request.annotate(`${webhook.name}/${key}`, value);
  for (const warning of response.warnings ?? []) request.warn(warning);
  if (!response.allowed) throw denial(webhook.name, response.status);
  return response;
}

function verified(review: unknown, sent: { uid: string; version: string; mutating: boolean }): ReviewResponse {
  try {
    return verifiedResponse(review, sent);
  } catch (error) {
    throw new WebhookCallError(`received invalid webhook response: ${(error as Error).message}`);
  }
}
