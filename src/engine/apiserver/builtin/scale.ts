import { labelSelectorMatcher, labelSetSelector } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ScaleAccess } from '../registry/resource.ts';

const REPLICAS: Omit<ScaleAccess, 'selector'> = {
  specReplicas: (object) => object['spec']?.replicas,
  setSpecReplicas(draft, replicas) {
    draft['spec'] = { ...draft['spec'], replicas };
  },
  statusReplicas: (object) => object['status']?.replicas ?? 0,
};

/** Kinds of apps select with expressions, replication controllers with plain labels. */
const BY_EXPRESSIONS: ScaleAccess = {
  ...REPLICAS,
  selector: (object: KubeObject) => labelSelectorMatcher(object['spec']?.selector).toString(),
};
const BY_LABELS: ScaleAccess = { ...REPLICAS, selector: (object: KubeObject) => labelSetSelector(object['spec']?.selector).toString() };

export const SCALABLE: Record<string, ScaleAccess> = {
  '/replicationcontrollers': BY_LABELS,
  'apps/deployments': BY_EXPRESSIONS,
  'apps/replicasets': BY_EXPRESSIONS,
  'apps/statefulsets': BY_EXPRESSIONS,
};
