import type { WebhookRule } from '../../../runtime/admission/webhook-rules.ts';

export const CLUSTER_WEBHOOKS = 'tenantry-clusters';

/** Whether a TenantCluster stays inside the bounds of its tenant. It remembers what it let in until that is seen, so not for a dry run. */
export const TENANT_CLUSTER_RULE: WebhookRule = {
  name: 'tenantclusters.tenantry.dev',
  type: 'Validating',
  path: '/validate-tenant-clusters',
  rules: [{ apiGroups: ['tenantry.dev'], apiVersions: ['v1alpha1'], resources: ['tenantclusters'], operations: ['CREATE', 'UPDATE'] }],
  failurePolicy: 'Fail',
  reserves: true,
};

/** Whether a Vpc can be made beside all others. */
export const VPC_RULE: WebhookRule = {
  name: 'vpcs.tenantry.dev',
  type: 'Validating',
  path: '/validate-vpcs',
  rules: [{ apiGroups: ['tenantry.dev'], apiVersions: ['v1alpha1'], resources: ['vpcs'], operations: ['CREATE', 'UPDATE'] }],
  failurePolicy: 'Fail',
  reserves: true,
};

export const CLUSTER_RULES: readonly WebhookRule[] = [TENANT_CLUSTER_RULE, VPC_RULE];
