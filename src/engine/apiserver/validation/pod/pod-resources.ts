import type { Json } from '../../../../kube/object.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { Findings } from '../findings.ts';
import { compareQuantities } from '../quantities.ts';
import { isHugePages } from '../resource-names.ts';
import type { Path } from '../path.ts';
import { isSidecar } from './containers.ts';
import type { PodOptions } from './options.ts';
import { checkResourceRequirements } from './resources.ts';

/** Resources of the Pod as a whole, against the sum of its containers. */
export function checkPodResources(out: Findings, spec: Json, claimNames: Set<string>, at: Path, options: PodOptions): void {
  const resourcesAt = at.child('resources');
  if (spec.os?.name === 'windows') return out.forbidden(resourcesAt, 'may not be set for a windows pod');
  if (spec.resources.claims !== undefined) {
    out.forbidden(resourcesAt.child('claims'), 'claims may not be set for Resources at pod-level');
  }
  const { allowIndivisibleHugePages } = options;
  checkResourceRequirements(out, spec.resources, resourcesAt, { allowIndivisibleHugePages, claimNames, podLevel: true });
  checkConsistency(out, spec, resourcesAt);
}

type Amounts = Map<string, Quantity>;

function add(into: Amounts, list: Record<string, string> | undefined): void {
  for (const name in list) into.set(name, (into.get(name) ?? Quantity.zero).add(Quantity.parse(list[name])));
}

function raise(into: Amounts, from: Amounts): void {
  for (const [name, amount] of from) {
    const before = into.get(name);
    if (before === undefined || amount.compare(before) > 0) into.set(name, amount);
  }
}

/** Containers run together; an init container runs before them, beside the sidecars that started earlier. */
function aggregate(spec: Json, kind: 'requests' | 'limits'): Amounts {
  const total: Amounts = new Map();
  for (const container of spec.containers ?? []) add(total, container.resources?.[kind]);
  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own: Record<string, string> | undefined = container.resources?.[kind];
    if (isSidecar(container)) {
      add(total, own);
      add(sidecars, own);
      raise(peak, sidecars);
      continue;
    }
    const together: Amounts = new Map(sidecars);
    add(together, own);
    raise(peak, together);
  }
  raise(total, peak);
  return total;
}

function checkConsistency(out: Findings, spec: Json, at: Path): void {
  const { requests = {}, limits = {} } = spec.resources;
  for (const [name, amount] of aggregate(spec, 'requests')) {
    if (!Object.hasOwn(requests, name) || amount.compare(Quantity.parse(requests[name])) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${amount.toString()}`;
    out.invalid(at.child('requests').key(name), requests[name], detail);
  }
  for (const [name, amount] of aggregate(spec, 'limits')) {
    if (!isHugePages(name) || !Object.hasOwn(limits, name) || amount.compare(Quantity.parse(limits[name])) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container limits of ${amount.toString()}`;
    out.invalid(at.child('limits').key(name), limits[name], detail);
  }
  (spec.containers ?? []).forEach((container: Json, i: number) => {
    const own: Record<string, string> = container.resources?.limits ?? {};
    for (const name in own) {
      if (!Object.hasOwn(limits, name) || compareQuantities(own[name], limits[name]) <= 0) continue;
      const limitAt = at.child('containers').index(i).key(name).child('limits');
      out.invalid(limitAt, own[name], `must be less than or equal to pod limits of ${limits[name]}`);
    }
  });
}
