import { API_VERSION } from '../../api/kruntimes.io/v1alpha1/group.ts';
import type { Runtime } from '../../api/kruntimes.io/v1alpha1/runtime.ts';

/** Marks the Runtimes that come with the embedded engine. */
export const BUILT_IN_LABEL = 'tenantry.dev/built-in';

const PLACES = 16;

/**
 * What is there without any set-up, in namespace `default`. No Pod before the first Run: an engine at rest costs nothing for them. The
 * Pods stay warm for a while after the last.
 */
export function builtInRuntimes(): Runtime[] {
  return ['bash', 'python', 'node'].map((language) => ({
    apiVersion: API_VERSION,
    kind: 'Runtime',
    metadata: { name: language, namespace: 'default', labels: { [BUILT_IN_LABEL]: 'true' } },
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: 'runtime',
              image: `tenantry.dev/runtime-${language}`,
              resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '2Gi' } },
            },
          ],
        },
      },
      replicas: 0,
      capacity: { resources: { runs: PLACES } },
      autoscaling: { minReplicas: 0, maxReplicas: 2, targetQueuedRuns: 4 * PLACES, targetWaitSeconds: 5, scaleDownDelaySeconds: 600 },
    },
  }));
}
