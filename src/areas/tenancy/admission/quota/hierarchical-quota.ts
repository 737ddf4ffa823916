import { randomBytes } from 'node:crypto';
import { ResourceQuota } from '../../../../client/kinds.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import type { TenancyEnvironment } from '../../tenancy-environment.ts';

const PREFIX = 'hnc-x-k8s-io-hrq-validating-rq-';

/** A quota of the tree may limit what a ResourceQuota may: the API server itself is asked, without anything being written. */
export function hierarchicalQuotaHandler({ client }: TenancyEnvironment): AdmissionHandler {
  return async ({ namespace, object, oldObject }) => {
    // What it uses is written often, and what it limits was judged already.
    if (oldObject && deepEqual(oldObject.spec, object?.spec)) return { allowed: true };
    const quota = {
      metadata: { name: `${PREFIX}${randomBytes(10).toString('hex')}` },
      spec: { hard: object?.spec?.hard ?? {}, scopeSelector: object?.spec?.scopeSelector },
    };
    try {
      await client.resource(ResourceQuota, namespace).create(quota, { dryRun: true });
      return { allowed: true };
    } catch (error) {
      if (!isStatusError(error, 'Invalid') && !isStatusError(error, 'BadRequest')) throw error;
      const message = error.message.replace(/^[^:]*: /, '');
      const details = { causes: [{ message, field: '.spec.hard' }] };
      return { allowed: false, message, reason: 'Invalid', code: 422, details };
    }
  };
}
