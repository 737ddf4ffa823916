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
      // Ten workers of 4 processors, 4Gi and 20Gi, or fewer that are larger.
      max: { clusters: 5, workers: 10, cpu: '40', memory: '40Gi', disk: '200Gi' },
      addOns: [
        { name: 'limits', mandatory: false },
        { name: 'default-deny', mandatory: false },
        { name: 'ingress', mandatory: false },
      ],
    },
  };
}
