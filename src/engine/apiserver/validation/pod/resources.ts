import { getField } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel } from '../formats.ts';
import { checkResourceQuantity, compareQuantities, milliValue, nanos, wholeValue } from '../quantities.ts';
import {
  checkContainerResourceName,
  checkPodLevelResourceName,
  hugePageSize,
  isHugePages,
  isOvercommitAllowed,
} from '../resource-names.ts';
import type { Path } from '../path.ts';

export function isDivisibleHugePages(name: string, quantity: string): boolean {
  const size = hugePageSize(name);
  const parsed = nanos(size);
  if (parsed === undefined || parsed <= 0n || milliValue(size) % 1000n !== 0n) return false;
  return wholeValue(quantity) % wholeValue(size) === 0n;
}

export interface ResourceContext {
  allowIndivisibleHugePages: boolean;
  /** Names in spec.resourceClaims; undefined where claims mean nothing (overhead). */
  claimNames?: Set<string>;
  podLevel?: boolean;
}

/** Limits and requests of a container, of a Pod, or overhead. */
export function checkResourceRequirements(out: Findings, resources: Json, at: Path, context: ResourceContext): void {
  const { limits, requests, claims } = resources;
  if (limits === undefined && requests === undefined && claims === undefined) return;
  const uses = { compute: false, hugePages: false };
  const checkName = context.podLevel ? checkPodLevelResourceName : checkContainerResourceName;
  const checkOne = (name: string, quantity: string, itemAt: Path): void => {
    checkName(out, name, itemAt);
    checkResourceQuantity(out, name, quantity, itemAt);
    if (name === 'cpu' || name === 'memory') uses.compute = true;
  };
  const checkHugePages = (name: string, quantity: string, itemAt: Path): void => {
    if (!isHugePages(name)) return;
    uses.hugePages = true;
    if (context.allowIndivisibleHugePages || isDivisibleHugePages(name, quantity)) return;
    out.invalid(itemAt, quantity, `${quantity} is not positive integer multiple of ${name}`);
  };
  for (const name in limits) {
    const itemAt = at.child('limits').key(name);
    checkOne(name, limits[name], itemAt);
    checkHugePages(name, limits[name], itemAt);
  }
  for (const name in requests) {
    const itemAt = at.child('requests').key(name);
    checkOne(name, requests[name], itemAt);
    checkRequestFitsLimit(out, name, requests[name], getField(limits ?? {}, name), at);
    checkHugePages(name, requests[name], itemAt);
  }
  if (!uses.compute && uses.hugePages) out.forbidden(at, 'HugePages require cpu or memory');
  if (claims !== undefined) checkClaimUses(out, claims, context.claimNames ?? new Set(), at.child('claims'));
}

function checkRequestFitsLimit(out: Findings, name: string, request: string, limit: string | undefined, at: Path): void {
  const overcommit = isOvercommitAllowed(name);
  if (limit === undefined) {
    if (!overcommit) out.required(at.child('limits'), 'Limit must be set for non overcommitable resources');
    return;
  }
  const order = compareQuantities(request, limit);
  if (order !== 0 && !overcommit) out.invalid(at.child('requests'), request, `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) out.invalid(at.child('requests'), request, `must be less than or equal to ${name} limit of ${limit}`);
}

/** A container's use of resource claims of its Pod. */
function checkClaimUses(out: Findings, claims: Json[], podClaims: Set<string>, at: Path): void {
  const used = new Set<string>();
  claims.forEach(({ name = '', request = '' }, i) => {
    const itemAt = at.index(i);
    if (name === '') return out.required(itemAt);
    if (used.has(name)) out.duplicate(itemAt, name);
    else {
      const key = request === '' ? name : `${name}/${request}`;
      if (request !== '') checkDnsLabel(out, request, itemAt.child('request'));
      if (used.has(key)) out.duplicate(itemAt, key);
      else if (request === '') for (const other of used) if (other.startsWith(`${name}/`)) out.duplicate(itemAt, name);
      used.add(key);
    }
    if (podClaims.has(name)) return;
    const names = podClaims.size === 0 ? ' which is empty' : `: ${[...podClaims].sort().join(', ')}`;
    out.notFound(itemAt, name, `must be one of the names in pod.spec.resourceClaims${names}`);
  });
}
