import type { GroupResource, KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { toResourceList, type ResourceList } from '../../../../kube/resource-list.ts';
import type { ObjectWriter } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { CachedList } from '../cached-list.ts';
import { isNamespaceResource, refusal } from '../refusal.ts';
import { charge, chargesFor, exceeded, giveBack, usedAfter, type Charge } from './charge.ts';
import { Evaluators } from './object-evaluators.ts';

const QUOTAS = { group: '', resource: 'resourcequotas' };
/** Answered instead of stored, and events, which come in any number. */
const UNCOUNTED_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io', 'events.k8s.io']);
const UNCOUNTED_CORE = new Set(['bindings', 'componentstatuses', 'events']);

/** Limits beyond one namespace. Asked and told in the turn in which a quota is charged, so that no other charge comes between. */
export interface WiderQuota {
  /** Why the namespace may not use so much in all, though its own quota has room. `quota` is the latest state. */
  refusal(quota: KubeObject, used: ResourceList): string | undefined;
  /** It uses so much from now on; written upon this state of the quota. */
  charged(quota: KubeObject, used: ResourceList): void;
  /** When everything that limits the namespace has a quota in it; undefined when it is so. */
  ready(namespace: string): Promise<void> | undefined;
  /** Objects that no ResourceQuota can count, because their use ends before they do, have places instead. */
  hasPlaces(resource: GroupResource, namespace: string): boolean;
  placeRefusal(namespace: string): string | undefined;
  /** @returns the way to give it back */
  takePlace(namespace: string, uid: string): () => void;
}

export interface ResourceQuotaOptions {
  writer: ObjectWriter;
  wider?: () => WiderQuota | undefined;
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
    let isJudged = false;
    onLatest(quota, (draft) => {
      isJudged = true;
      // A status write reports what is already so, and cannot be refused for it.
      const isReport = request.subresource === 'status';
      const after = usedAfter(draft, amounts);
      over = isReport ? undefined : (exceeded(draft, amounts) ?? options.wider?.()?.refusal(draft, after));
      if (over !== undefined || !thenCharge) return false;
      options.wider?.()?.charged(draft, after);
      charge(draft, after);
      return true;
    });
    const { namespace, name } = quota.metadata;
    // A quota so large that it is read in pieces is not judged in this turn, and nothing may pass unjudged.
    if (!isJudged && writer.get(QUOTAS, namespace!, name!))
      over = `failed quota: ${name}: the ResourceQuota is too large to be charged; make it smaller`;
    if (over !== undefined) throw refusal(request, over);
  }

  /** Quotas themselves cannot wait for quotas. */
  function waitsFor({ resource, namespace }: AdmissionRequest): Promise<void> | undefined {
    return resource.resource === QUOTAS.resource && resource.group === '' ? undefined : options.wider?.()?.ready(namespace);
  }

  function placesFor({ resource, subresource, operation, namespace }: AdmissionRequest): WiderQuota | undefined {
    const wider = operation === 'CREATE' && subresource === '' ? options.wider?.() : undefined;
    return wider?.hasPlaces(resource, namespace) ? wider : undefined;
  }

  return {
    name: 'ResourceQuota',
    handles: (request) =>
      request.namespace !== '' &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      !isNamespaceResource(request) &&
      !UNCOUNTED_GROUPS.has(request.resource.group) &&
      !(UNCOUNTED_CORE.has(request.resource.resource) && request.resource.group === '') &&
      (quotas.in(request.namespace).length > 0 || waitsFor(request) !== undefined || placesFor(request) !== undefined),
    validate(request) {
      const waiting = waitsFor(request);
      return waiting ? waiting.then(() => admit(request)) : admit(request);
    },
  };

  function takePlace(request: AdmissionRequest): void {
    const { namespace, object, dryRun } = request;
    const places = placesFor(request);
    const over = places?.placeRefusal(namespace);
    if (over !== undefined) throw refusal(request, over);
    if (places && !dryRun) (request.undo ??= []).push(places.takePlace(namespace, object!.metadata.uid!));
  }

  function admit(request: AdmissionRequest): void {
    takePlace(request);
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
          options.wider?.()?.charged(draft, toResourceList(draft.status.used));
          return true;
        }),
      );
    }
  }
}
