import { randomBytes } from 'node:crypto';
import { ResourceQuota } from '../../../../client/kinds.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { forbiddenError, isStatusError } from '../../../../kube/status.ts';
import type { AdmissionHandler } from '../../../../runtime/admission/review.ts';
import type { TenancyEnvironment } from '../../tenancy-environment.ts';
import { notYetSynced } from '../hierarchy/refusal.ts';
import { untilKnown } from '../hierarchy/until-known.ts';
import { isPlatform } from '../platform-users.ts';
import { ownersQuotaProblem } from './owner-quotas.ts';

const PREFIX = 'hnc-x-k8s-io-hrq-validating-rq-';

/** A quota of the tree may limit what a ResourceQuota may: the API server itself is asked, without anything being written. */
export function hierarchicalQuotaHandler({ client, forest }: TenancyEnvironment): AdmissionHandler {
  return async ({ namespace, object, oldObject, userInfo, resource }, signal) => {
    // What it uses is written often, and what it limits was judged already.
    if (oldObject && deepEqual(oldObject.spec, object?.spec)) return { allowed: true };
    if (object && !isPlatform(userInfo)) {
      await untilKnown(forest, client, [namespace!], signal);
      const place = forest.get(namespace!);
      if (!place) return notYetSynced(namespace!);
      const why = place.tenant === undefined ? undefined : ownersQuotaProblem(object);
      if (why !== undefined) throw forbiddenError(resource, object.metadata.name ?? '', why);
    }
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
