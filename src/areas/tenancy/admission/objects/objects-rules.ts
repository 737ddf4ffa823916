import { INCLUDED_LABEL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { PROPAGATE_TO_PLATFORM } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { NOT_OUR_OWN } from '../platform-users.ts';
import type { WebhookRule } from '../../../../runtime/admission/webhook-rules.ts';

const WRITES = ['CREATE', 'UPDATE', 'DELETE'];
const IN_TREES = { matchLabels: { [INCLUDED_LABEL]: 'true' } };

export const CONFIGURATION_RULE: WebhookRule = {
  name: 'hncconfigurations.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-hnc-x-k8s-io-v1alpha2-hncconfigurations',
  rules: [{ apiGroups: ['hnc.x-k8s.io'], apiVersions: ['*'], resources: ['hncconfigurations'], operations: WRITES }],
  failurePolicy: 'Fail',
};

/** On what is always propagated; the rest is added, and taken away, with the configuration. */
export const OBJECTS_RULE: WebhookRule = {
  name: 'objects.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-objects',
  rules: objectRules([{ group: 'rbac.authorization.k8s.io', plurals: ['rolebindings', 'roles'] }]),
  failurePolicy: 'Fail',
  timeoutSeconds: 2,
  namespaceSelector: IN_TREES,
  // A change at the top of a tree is a thousand writes of our own, and none of them needs to be asked about.
  matchConditions: [NOT_OUR_OWN],
};

const carries = (object: string): string =>
  `${object} != null && has(${object}.metadata.annotations) && '${PROPAGATE_TO_PLATFORM}' in ${object}.metadata.annotations`;

/** Asked about every type, because one that is not propagated today may be tomorrow; called only for objects with the annotation. */
export const PLATFORM_COPIES_RULE: WebhookRule = {
  name: 'platform-copies.tenantry.dev',
  type: 'Validating',
  path: '/validate-platform-copies',
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: WRITES, scope: 'Namespaced' }],
  failurePolicy: 'Fail',
  namespaceSelector: IN_TREES,
  matchConditions: [{ name: 'carries-the-annotation', expression: `(${carries('object')}) || (${carries('oldObject')})` }],
};

export function objectRules(types: readonly { group: string; plurals: string[] }[]): WebhookRule['rules'] {
  return types.map(({ group, plurals }) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    resources: plurals,
    operations: WRITES,
    scope: 'Namespaced',
  }));
}
