import { PLUGIN_ROLE, ROLE_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { WebhookRule } from '../../../runtime/admission/webhook-rules.ts';

/** The configuration that holds the rules of the area. */
export const PLUGIN_WEBHOOKS = 'tenantry-plugins';

/** Asked for every Pod of a plugin's namespace. When nobody answers nothing starts: better none than one that nobody verified. */
export const PLUGIN_PODS_RULE: WebhookRule = {
  name: 'pods.plugins.tenantry.dev',
  type: 'Validating',
  path: '/validate-plugin-pods',
  rules: [
    {
      apiGroups: [''],
      apiVersions: ['v1'],
      resources: ['pods', 'pods/ephemeralcontainers'],
      operations: ['CREATE', 'UPDATE'],
      scope: 'Namespaced',
    },
  ],
  namespaceSelector: { matchLabels: { [ROLE_LABEL]: PLUGIN_ROLE } },
  failurePolicy: 'Fail',
};

/** Asked when somebody deletes a version. */
export const PLUGIN_VERSIONS_RULE: WebhookRule = {
  name: 'versions.plugins.tenantry.dev',
  type: 'Validating',
  path: '/validate-plugin-versions',
  rules: [
    {
      apiGroups: ['plugins.tenantry.dev'],
      apiVersions: ['v1alpha1'],
      resources: ['pluginversions'],
      operations: ['DELETE'],
      scope: 'Cluster',
    },
  ],
  failurePolicy: 'Fail',
};

export const PLUGIN_RULES: readonly WebhookRule[] = [PLUGIN_PODS_RULE, PLUGIN_VERSIONS_RULE];
