import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { ObjectWriter } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { CachedList } from '../cached-list.ts';
import { isNamespaceResource, refusal } from '../refusal.ts';
import { charge, chargesFor, exceeded, giveBack, type Charge } from './charge.ts';
import { Evaluators } from './object-evaluators.ts';

const QUOTAS = { group: '', resource: 'resourcequotas' };
/** Answered instead of stored, and events, which come in any number. */
const UNCOUNTED_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io', 'events.k8s.io']);
const UNCOUNTED_CORE = new Set(['bindings', 'componentstatuses', 'events']);

export interface ResourceQuotaOptions {
  writer: ObjectWriter;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** A charge that could not be written; the write it was for waits behind it in the same store. */
  onError?: (error: unknown) => void;
}

/**
 * Keeps namespaces within their ResourceQuotas. The charge is checked and written against the latest state in one turn
 * of the event loop, just before the object itself is written: creates in parallel never exceed a quota together, and
 * nothing that fits is refused. The charge is not waited for: it stands before the object in the same log, so that the
 * object is never durable without it. When the write fails, `undo` of the request gives the charge back; should that
 * not happen (a crash), the quota controller counts anew.
 */
export function resourceQuota(options: ResourceQuotaOptions): AdmissionPlugin {
  const { writer } = options;
  const quotas = new CachedList(writer, QUOTAS);
  const evaluators = new Evaluators(options.now);

  /** Lets `change` see and edit the latest state of a quota; a quota that is gone limits nothing any more. */
  function onLatest(quota: KubeObject, change: (draft: KubeObject) => boolean): void {
    const { namespace, name } = quota.metadata;
    writer.update(QUOTAS, namespace!, name!, change, 'status').catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) options.onError?.(error);
    });
  }

  function refuseExcess(request: AdmissionRequest, { quota, amounts }: Charge, thenCharge: boolean): void {
    let over: string | undefined;
    onLatest(quota, (draft) => {
      // A status write reports what is already so, and cannot be refused for it.
      over = request.subresource === 'status' ? undefined : exceeded(draft, amounts);
      if (over !== undefined || !thenCharge) return false;
      charge(draft, amounts);
      return true;
    });
    if (over !== undefined) throw refusal(request, over);
  }

  return {
    name: 'ResourceQuota',
    handles: (request) =>
      request.namespace !== '' &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      !isNamespaceResource(request) &&
      !UNCOUNTED_GROUPS.has(request.resource.group) &&
      !(UNCOUNTED_CORE.has(request.resource.resource) && request.resource.group === '') &&
      quotas.in(request.namespace).length > 0,
    validate(request) {
      const evaluator = evaluators.get(request.resource);
      if (!evaluator.handles(request)) return;
      const charges = chargesFor(request, quotas.in(request.namespace), evaluator);
      // Of several quotas none is charged before all have room.
      if (charges.length > 1 || request.dryRun) for (const each of charges) refuseExcess(request, each, false);
      if (request.dryRun) return;
      for (const each of charges) {
        refuseExcess(request, each, true);
        (request.undo ??= []).push(() =>
          onLatest(each.quota, (draft) => {
            giveBack(draft, each.amounts);
            return true;
          }),
        );
      }
    },
  };
}
