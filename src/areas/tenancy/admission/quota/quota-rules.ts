import { INCLUDED_LABEL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { WebhookRule } from '../../../../runtime/admission/webhook-rules.ts';

export const HIERARCHICAL_QUOTA_RULE: WebhookRule = {
  name: 'hrq.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-hnc-x-k8s-io-v1alpha2-hrq',
  rules: [{ apiGroups: ['hnc.x-k8s.io'], apiVersions: ['*'], resources: ['hierarchicalresourcequotas'], operations: ['CREATE', 'UPDATE'] }],
  failurePolicy: 'Fail',
};

/** A place for every Run that has not ended, where a quota of the tree says how many there are. */
export const RUN_PLACES_RULE: WebhookRule = {
  name: 'runs-in-flight.tenantry.dev',
  type: 'Validating',
  path: '/validate-runs-in-flight',
  rules: [{ apiGroups: ['kruntimes.io'], apiVersions: ['*'], resources: ['runs'], operations: ['CREATE'], scope: 'Namespaced' }],
  failurePolicy: 'Fail',
  reserves: true,
  namespaceSelector: { matchLabels: { [INCLUDED_LABEL]: 'true' } },
};

/** Whoever cannot be asked is not obeyed: fail open would give room away that is not there. */
export const QUOTA_STATUS_RULE: WebhookRule = {
  name: 'resourcesquotasstatus.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-resource-quota-status',
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['resourcequotas/status'], operations: ['UPDATE'] }],
  failurePolicy: 'Fail',
  reserves: true,
  namespaceSelector: { matchLabels: { [INCLUDED_LABEL]: 'true' } },
};
