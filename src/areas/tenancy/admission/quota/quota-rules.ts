import { INCLUDED_LABEL } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { WebhookRule } from '../webhook-rules.ts';

export const HIERARCHICAL_QUOTA_RULE: WebhookRule = {
  name: 'hrq.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-hnc-x-k8s-io-v1alpha2-hrq',
  rules: [{ apiGroups: ['hnc.x-k8s.io'], apiVersions: ['*'], resources: ['hierarchicalresourcequotas'], operations: ['CREATE', 'UPDATE'] }],
  failurePolicy: 'Fail',
};

/** Whoever cannot be asked is not obeyed: fail open would give room away that is not there. */
export const QUOTA_STATUS_RULE: WebhookRule = {
  name: 'resourcesquotasstatus.hnc.x-k8s.io',
  type: 'Validating',
  path: '/validate-resource-quota-status',
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['resourcequotas/status'], operations: ['UPDATE'] }],
  failurePolicy: 'Fail',
  namespaceSelector: { matchLabels: { [INCLUDED_LABEL]: 'true' } },
};
