import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { CachedList } from '../cached-list.ts';
import { aggregateText, isOn, refusal } from '../refusal.ts';
import { claimFindings, podFindings } from './constraints.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Fills in the requests and limits a namespace's LimitRanges give as defaults, and keeps pods and claims within their bounds. */
export function limitRanger(reader: ObjectReader): AdmissionPlugin {
  const ranges = new CachedList(reader, { group: '', resource: 'limitranges' });
  return {
    name: 'LimitRanger',
    handles: (request) =>
      isJudged(request) && request.oldObject?.metadata.deletionTimestamp === undefined && ranges.in(request.namespace).length > 0,
    mutate(request) {
      if (request.resource.resource !== 'pods') return;
      for (const range of ranges.in(request.namespace)) setDefaults(range, request.object!);
    },
    validate(request) {
      const findingsOf = request.resource.resource === 'pods' ? podFindings : claimFindings;
      for (const range of ranges.in(request.namespace)) {
        const findings = findingsOf(range, request.object!);
        if (findings.length > 0) throw refusal(request, aggregateText(findings));
      }
    },
  };
}

/** The containers of a pod change only through a resize, so plain updates of pods need no second look. */
function isJudged(request: AdmissionRequest): boolean {
  const { operation, subresource } = request;
  if (isOn(request, '', 'pods')) return subresource === '' ? operation === 'CREATE' : subresource === 'resize' && operation === 'UPDATE';
  const writes = operation === 'CREATE' || operation === 'UPDATE';
  return writes && subresource === '' && isOn(request, '', 'persistentvolumeclaims');
}

function setDefaults(range: KubeObject, pod: KubeObject): void {
  const defaults: { requests: Record<string, string>; limits: Record<string, string> } = { requests: {}, limits: {} };
  for (const limit of range.spec?.limits ?? []) {
    if (limit.type !== 'Container') continue;
    Object.assign(defaults.requests, limit.defaultRequest);
    Object.assign(defaults.limits, limit.default);
  }
  const notes: string[] = [];
  for (const container of pod.spec.containers ?? []) notes.push(...fillContainer(container, defaults, 'container'));
  for (const container of pod.spec.initContainers ?? []) notes.push(...fillContainer(container, defaults, 'init container'));
  if (notes.length > 0) (pod.metadata.annotations ??= {})[ANNOTATION] = `LimitRanger plugin set: ${notes.join('; ')}`;
}

/** @returns what was set, in the words of the annotation. */
function fillContainer(container: Json, defaults: Record<'requests' | 'limits', Record<string, string>>, label: string): string[] {
  const notes: string[] = [];
  for (const side of ['requests', 'limits'] as const) {
    const present: Record<string, string> = container.resources?.[side] ?? {};
    const missing = Object.keys(defaults[side]).filter((name) => present[name] === undefined);
    if (missing.length === 0) continue;
    const target = ((container.resources ??= {})[side] ??= {});
    for (const name of missing) target[name] = defaults[side][name];
    notes.push(`${missing.sort().join(', ')} ${side === 'requests' ? 'request' : 'limit'} for ${label} ${container.name}`);
  }
  return notes;
}
