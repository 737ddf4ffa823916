import type { GroupVersionKind, GroupVersionResource } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isNamespaceResource } from '../refusal.ts';
import { ruleMatches } from '../webhook/rules.ts';
import { namespaceSelected, objectSelected } from '../webhook/selection.ts';
import type { Equivalents } from '../webhook/webhook-index.ts';
import type { MatchResources, NamedRule } from './compiled-policy.ts';

export interface MatchedResource {
  resource: GroupVersionResource;
  kind: GroupVersionKind;
}

/** The resource under which a request is matched, maybe another version of it; undefined when it is not. */
export function matchRequest(
  match: MatchResources,
  request: AdmissionRequest,
  reader: ObjectReader,
  equivalents: Equivalents | undefined,
): MatchedResource | undefined {
  const own: MatchedResource = { resource: request.resource, kind: request.kind };
  const resources = [own];
  if (match.matchesEquivalents && equivalents) resources.push(...equivalents.resourcesFor(request.resource, request.subresource));
  if (firstMatch(match.excluded, request, resources)) return undefined;
  const found = match.rules.length === 0 ? own : firstMatch(match.rules, request, resources);
  if (!found || !objectSelected(match, request) || !namespaceSelected(match, request, reader)) return undefined;
  return found;
}

/** The request's own version is tried with all rules before any other version is. */
function firstMatch(rules: NamedRule[], request: AdmissionRequest, resources: MatchedResource[]): MatchedResource | undefined {
  const namespaced = request.namespace !== '' && !isNamespaceResource(request);
  const { operation, subresource, name } = request;
  for (const candidate of resources) {
    const subject = { operation, subresource, namespaced, resource: candidate.resource };
    const isNamed = (rule: NamedRule) => !rule.resourceNames?.length || rule.resourceNames.includes(name);
    if (rules.some((rule) => ruleMatches(rule, subject) && isNamed(rule))) return candidate;
  }
  return undefined;
}
