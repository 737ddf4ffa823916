import type { KubeObject } from '../../../../kube/object.ts';
import { SUSPENDED_MARK } from '../../workload/deployment.ts';

const OWN = 'plugins.tenantry.dev/';

/** A Deployment as it is, with no Pods. All of it, so that whoever applies the whole of it again owns the number of Pods as before. */
export function stopped({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(OWN));
  const annotations = { ...Object.fromEntries(own), [SUSPENDED_MARK]: 'true' };
  return { apiVersion, kind, metadata: { name: metadata.name, labels: metadata.labels, annotations }, spec: { ...spec, replicas: 0 } };
}

/** No Pod of these Deployments is left. */
export function isStopped(deployments: readonly KubeObject[]): boolean {
  return deployments.every(({ metadata, spec, status }) => {
    const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);
    return spec.replicas === 0 && isSeen && (status?.replicas ?? 0) === 0;
  });
}
