import type { GroupVersionKind, GroupVersionResource } from '../../../../kube/object.ts';
import type { AdmissionOperation } from '../admission.ts';

/** A rule of a webhook or an admission policy. */
export interface Rule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, `*` + `/scale`, `*` + `/*`. */
  resources?: string[];
  scope?: string;
}

/** What rules look at. */
export interface RuleSubject {
  operation: AdmissionOperation;
  resource: GroupVersionResource;
  subresource: string;
  /** Namespaces themselves are not. */
  namespaced: boolean;
}

const EXEMPT_KINDS = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Admission never judges its own configuration: a broken one could not be repaired. */
export function isAdmissionConfiguration({ group, kind }: GroupVersionKind): boolean {
  return group === 'admissionregistration.k8s.io' && EXEMPT_KINDS.has(kind);
}

export function ruleMatches(rule: Rule, { operation, resource, subresource, namespaced }: RuleSubject): boolean {
  return (
    scopeMatches(rule.scope, namespaced) &&
    isListed(rule.operations, operation) &&
    isListed(rule.apiGroups, resource.group) &&
    isListed(rule.apiVersions, resource.version) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, resource.resource, subresource))
  );
}

function scopeMatches(scope: string | undefined, namespaced: boolean): boolean {
  if (scope === undefined || scope === '*') return true;
  return scope === (namespaced ? 'Namespaced' : 'Cluster');
}

function isListed(items: string[] | undefined, value: string): boolean {
  return items?.some((item) => item === '*' || item === value) ?? false;
}

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const [name, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (name === '*' || name === resource) && (sub === '*' || sub === subresource);
}
