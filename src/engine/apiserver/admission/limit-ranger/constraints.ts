import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Quantity } from '../../../../kube/quantity.ts';
import { podResources } from '../resources/pod-resources.ts';
import { toResourceList, type ResourceList } from '../../../../kube/resource-list.ts';

/** Everything about a pod that a LimitRange does not allow. */
export function podFindings(limitRange: KubeObject, pod: KubeObject): string[] {
  const findings: string[] = [];
  for (const limit of limitRange.spec?.limits ?? []) {
    if (limit.type === 'Container') {
      for (const container of [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])]) {
        const { requests, limits } = container.resources ?? {};
        findings.push(...amountFindings(limit, toResourceList(requests), toResourceList(limits)));
      }
    } else if (limit.type === 'Pod') {
      findings.push(...amountFindings(limit, podResources(pod, 'requests'), podResources(pod, 'limits')));
    }
  }
  return findings;
}

/** A claim only requests: its maximum is compared with the request. */
export function claimFindings(limitRange: KubeObject, claim: KubeObject): string[] {
  const findings: (string | undefined)[] = [];
  const requests = toResourceList(claim.spec?.resources?.requests);
  for (const limit of limitRange.spec?.limits ?? []) {
    if (limit.type !== 'PersistentVolumeClaim') continue;
    for (const [name, bound] of toResourceList(limit.min)) findings.push(belowMinimum(limit.type, name, bound, requests, new Map()));
    for (const [name, bound] of toResourceList(limit.max)) findings.push(requestAboveMaximum(limit.type, name, bound, requests));
  }
  return present(findings);
}

function amountFindings(limit: Json, requests: ResourceList, limits: ResourceList): string[] {
  const findings: (string | undefined)[] = [];
  for (const [name, bound] of toResourceList(limit.min)) findings.push(belowMinimum(limit.type, name, bound, requests, limits));
  for (const [name, bound] of toResourceList(limit.max)) findings.push(aboveMaximum(limit.type, name, bound, requests, limits));
  for (const [name, bound] of toResourceList(limit.maxLimitRequestRatio)) {
    findings.push(aboveRatio(limit.type, name, bound, requests, limits));
  }
  return present(findings);
}

function present(findings: (string | undefined)[]): string[] {
  return findings.filter((finding) => finding !== undefined);
}

function belowMinimum(type: string, name: string, bound: Quantity, requests: ResourceList, limits: ResourceList): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const start = `minimum ${name} usage per ${type} is ${bound.toString()}`;
  if (!request) return `${start}.  No request is specified`;
  if (request.compare(bound) < 0) return `${start}, but request is ${request.toString()}`;
  if (limit && limit.compare(bound) < 0) return `${start}, but limit is ${limit.toString()}`;
  return undefined;
}

function requestAboveMaximum(type: string, name: string, bound: Quantity, requests: ResourceList): string | undefined {
  const request = requests.get(name);
  const start = `maximum ${name} usage per ${type} is ${bound.toString()}`;
  if (!request) return `${start}.  No request is specified`;
  return request.compare(bound) > 0 ? `${start}, but request is ${request.toString()}` : undefined;
}

function aboveMaximum(type: string, name: string, bound: Quantity, requests: ResourceList, limits: ResourceList): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const start = `maximum ${name} usage per ${type} is ${bound.toString()}`;
  if (!limit) return `${start}.  No limit is specified`;
  if (limit.compare(bound) > 0) return `${start}, but limit is ${limit.toString()}`;
  if (request && request.compare(bound) > 0) return `${start}, but request is ${request.toString()}`;
  return undefined;
}

function aboveRatio(type: string, name: string, bound: Quantity, requests: ResourceList, limits: ResourceList): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const start = `${name} max limit to request ratio per ${type} is ${bound.toString()}, but`;
  if (!request || request.sign === 0) return `${start} no request is specified or request is 0`;
  if (!limit || limit.sign === 0) return `${start} no limit is specified or limit is 0`;
  const ratio = limit.milliValue() / request.milliValue();
  return ratio * 1000 > bound.milliValue() ? `${start} provided ratio is ${ratio.toFixed(6)}` : undefined;
}
