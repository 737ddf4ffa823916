import type { AdmissionHandler } from '../../../runtime/admission/review.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import type { WebhookRule } from './webhook-rules.ts';

/** The rules on everything else, registered once there is a tree to keep them for. */
export const TREE_RULES: readonly WebhookRule[] = [];

/** What decides, by path. */
export function admissionHandlers(_environment: TenancyEnvironment): Record<string, AdmissionHandler> {
  return {};
}
