import { isDns1123Subdomain, isPathSegmentName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabelSelector, hasInvalidSelectorValue, selectorIsUsable } from '../labels.ts';
import { path, type Path } from '../path.ts';

const GROUP = 'rbac.authorization.k8s.io';
const RULES = path('rules');
const SELECTORS = path('aggregationRule', 'clusterRoleSelectors');

export function validateRole(out: Findings, role: KubeObject): void {
  (role.rules ?? []).forEach((rule: Json, i: number) => checkRule(out, rule, true, RULES.index(i)));
}

export function validateClusterRole(out: Findings, role: KubeObject, old: KubeObject | undefined): void {
  (role.rules ?? []).forEach((rule: Json, i: number) => checkRule(out, rule, false, RULES.index(i)));
  if (role.aggregationRule === undefined) return;
  const selectors: Json[] = role.aggregationRule.clusterRoleSelectors ?? [];
  const allowInvalidValues = (old?.aggregationRule?.clusterRoleSelectors ?? []).some(hasInvalidSelectorValue);
  if (selectors.length === 0) out.required(SELECTORS, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  selectors.forEach((selector, i) => {
    checkLabelSelector(out, selector, SELECTORS.index(i), { allowInvalidValues });
    if (!selectorIsUsable(selector)) out.invalid(SELECTORS.index(i), null, 'invalid label selector.');
  });
}

function checkRule(out: Findings, rule: Json, namespaced: boolean, at: Path): void {
  const { verbs = [], nonResourceURLs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (verbs.length === 0) out.required(at.child('verbs'), 'verbs must contain at least one value');
  if (nonResourceURLs.length > 0) {
    const urlsAt = at.child('nonResourceURLs');
    if (namespaced) out.invalid(urlsAt, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs');
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      out.invalid(urlsAt, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs');
    }
    return;
  }
  if (apiGroups.length === 0) out.required(at.child('apiGroups'), 'resource rules must supply at least one api group');
  if (resources.length === 0) out.required(at.child('resources'), 'resource rules must supply at least one resource');
}

export function validateRoleBinding(out: Findings, binding: KubeObject, old: KubeObject | undefined): void {
  checkBinding(out, binding, old, true);
}

export function validateClusterRoleBinding(out: Findings, binding: KubeObject, old: KubeObject | undefined): void {
  checkBinding(out, binding, old, false);
}

function checkBinding(out: Findings, binding: KubeObject, old: KubeObject | undefined, namespaced: boolean): void {
  const { apiGroup = '', kind = '', name = '' } = binding.roleRef ?? {};
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (apiGroup !== GROUP) out.notSupported(path('roleRef', 'apiGroup'), apiGroup, [GROUP]);
  if (!kinds.includes(kind)) out.notSupported(path('roleRef', 'kind'), kind, kinds);
  if (name === '') out.required(path('roleRef', 'name'));
  else out.invalidEach(path('roleRef', 'name'), name, isPathSegmentName(name));
  (binding.subjects ?? []).forEach((subject: Json, i: number) => checkSubject(out, subject, namespaced, path('subjects').index(i)));
  if (old === undefined) return;
  const before = old.roleRef ?? {};
  if ((before.apiGroup ?? '') !== apiGroup || (before.kind ?? '') !== kind || (before.name ?? '') !== name) {
    out.invalid(path('roleRef'), internalForm('rbac.RoleRef', binding.roleRef ?? {}), 'cannot change roleRef');
  }
}

function checkSubject(out: Findings, subject: Json, namespaced: boolean, at: Path): void {
  const { kind = '', name = '', apiGroup = '', namespace = '' } = subject;
  if (name === '') out.required(at.child('name'));
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') out.invalidEach(at.child('name'), name, isDns1123Subdomain(name));
      if (apiGroup !== '') out.notSupported(at.child('apiGroup'), apiGroup, ['']);
      if (!namespaced && namespace === '') out.required(at.child('namespace'));
      return;
    case 'User':
    case 'Group':
      if (apiGroup !== GROUP) out.notSupported(at.child('apiGroup'), apiGroup, [GROUP]);
      return;
    default:
      out.notSupported(at.child('kind'), kind, ['ServiceAccount', 'User', 'Group']);
  }
}
