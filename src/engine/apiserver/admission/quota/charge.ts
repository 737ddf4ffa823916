import type { KubeObject } from '../../../../kube/object.ts';
import type { AdmissionRequest } from '../admission.ts';
import { refusal } from '../refusal.ts';
import { addTo, excess, fromResourceList, resourceListText, toResourceList, type ResourceList } from '../../../../kube/resource-list.ts';
import { isInAllScopes, type Evaluator } from './evaluator.ts';

/** What a request takes of one quota. */
export interface Charge {
  quota: KubeObject;
  amounts: ResourceList;
}

/**
 * What a request takes of each quota of its namespace. @throws StatusError Forbidden when a quota cannot judge it: the object
 * lacks amounts the quota counts, or the quota was never counted.
 */
export function chargesFor(request: AdmissionRequest, quotas: readonly KubeObject[], evaluator: Evaluator): Charge[] {
  const object = request.object!;
  const pertinent = quotas.filter((quota) => isPertinent(quota, evaluator, object));
  for (const quota of pertinent) checkQuota(request, quota, evaluator);
  if (pertinent.length === 0) return [];
  const usage = evaluator.usage(object);
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([name]) => name);
  if (negative.length > 0) throw refusal(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  const old = request.operation === 'UPDATE' ? request.oldObject : undefined;
  const more = old ? excess(usage, evaluator.usage(old)) : usage;
  return pertinent.flatMap((quota) => {
    // An update can bring an object into a scope it was not in before; then all of it is new to the quota.
    const amounts = limited(old && isPertinent(quota, evaluator, old) ? more : usage, quota);
    return amounts.size === 0 ? [] : [{ quota, amounts }];
  });
}

function isPertinent(quota: KubeObject, evaluator: Evaluator, object: KubeObject): boolean {
  for (const name in quota.status?.hard ?? {}) {
    if (evaluator.tracks(name)) return isInAllScopes(evaluator, quota, object);
  }
  return false;
}

function checkQuota(request: AdmissionRequest, quota: KubeObject, evaluator: Evaluator): void {
  const names = Object.keys(quota.status.hard).filter((name) => evaluator.tracks(name));
  const missing = evaluator.missing?.(request.object!, names);
  if (missing) throw refusal(request, `failed quota: ${quota.metadata.name}: ${missing}`);
  const uncounted = names.some((name) => quota.status.used?.[name] === undefined);
  if (uncounted) throw refusal(request, `status unknown for quota: ${quota.metadata.name}, resources: ${names.sort().join(',')}`);
}

function limited(usage: ResourceList, quota: KubeObject): ResourceList {
  return new Map([...usage].filter(([name, amount]) => amount.sign !== 0 && quota.status.hard[name] !== undefined));
}

/** Why the charge does not fit into what is left of the quota as it is now; undefined when it does. */
export function exceeded(quota: KubeObject, amounts: ResourceList): string | undefined {
  const hard = toResourceList(quota.status?.hard);
  const used = toResourceList(quota.status?.used);
  const over: string[] = [];
  for (const [name, amount] of amounts) {
    const limit = hard.get(name);
    const present = used.get(name);
    if (limit && (present ? present.add(amount) : amount).compare(limit) > 0) over.push(name);
  }
  if (over.length === 0) return undefined;
  const texts = [amounts, used, hard].map((list) => resourceListText(list, over));
  return `exceeded quota: ${quota.metadata.name}, requested: ${texts[0]}, used: ${texts[1]}, limited: ${texts[2]}`;
}

/** What the namespace uses with the charge. */
export function usedAfter(quota: KubeObject, amounts: ResourceList): ResourceList {
  const used = toResourceList(quota.status?.used);
  addTo(used, amounts);
  return used;
}

/** Writes what is used into a draft of the quota. */
export function charge(draft: KubeObject, used: ResourceList): void {
  (draft.status ??= {}).used = fromResourceList(used);
}

/** Takes the charge out again; what was counted anew meanwhile does not go below zero. */
export function giveBack(draft: KubeObject, amounts: ResourceList): void {
  const used = toResourceList(draft.status?.used);
  for (const [name, amount] of amounts) {
    const present = used.get(name);
    if (present) used.set(name, present.compare(amount) > 0 ? present.sub(amount) : present.sub(present));
  }
  (draft.status ??= {}).used = fromResourceList(used);
}
