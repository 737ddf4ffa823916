import { PLATFORM_NAMESPACE } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PLUGIN_ROLE, ROLE_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** Where the webhook is registered to live. On the embedded engine it is a name for a function of the same process. */
export const PLUGIN_ADMISSION_SERVICE = { namespace: PLATFORM_NAMESPACE, name: 'tenantry-plugin-admission' };
export const PLUGIN_PODS_PATH = '/validate-plugin-pods';

/** Asked for every Pod of a plugin's namespace. When nobody answers nothing starts: better none than one that nobody verified. */
export function pluginWebhook(): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'tenantry-plugins' },
    webhooks: [
      {
        name: 'pods.plugins.tenantry.dev',
        admissionReviewVersions: ['v1'],
        clientConfig: { service: { ...PLUGIN_ADMISSION_SERVICE, path: PLUGIN_PODS_PATH, port: 443 } },
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
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ],
  };
}
