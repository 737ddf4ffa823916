import { API_VERSION } from '../../../api/tenantry.dev/v1alpha1/group.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** What tenants may have before an operator says otherwise. Made once: who deletes it wants none. */
export function defaultClusterPolicy(): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterPolicy',
    metadata: { name: 'default' },
    spec: {
      versions: [{ version: '1.35', classification: 'supported' }],
      max: { clusters: 5, workers: 10 },
      addOns: [
        { name: 'limits', mandatory: false },
        { name: 'default-deny', mandatory: false },
        { name: 'ingress', mandatory: false },
      ],
    },
  };
}
