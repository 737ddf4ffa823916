import { ADD_ON_LABEL } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { KubeObject } from '../../../kube/object.ts';

export interface AddOn {
  name: string;
  /** Cluster-scoped ones, and namespaced ones that say where. */
  objects: KubeObject[];
  /** In every namespace but those of the system. */
  eachNamespace?: KubeObject[];
}

/** As it is written into the cluster: with the label that says whose it is, and by which it is missed when it is gone. */
export function labelled(addOn: string, object: KubeObject, namespace?: string): KubeObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...metadata.labels, [ADD_ON_LABEL]: addOn },
    },
  };
}

export function isForAddOns(namespace: string): boolean {
  return !namespace.startsWith('kube-');
}
