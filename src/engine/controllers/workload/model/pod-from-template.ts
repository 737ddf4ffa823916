import type { Json, KubeObject, ObjectMeta } from '../../../../kube/object.ts';
import { ownerReference } from '../../../../kube/ownership.ts';

/** The longest prefix that names of Pods are generated from. */
const MAX_PREFIX = 253;

/** An object that is yet to be created. */
export interface NewObject {
  metadata: ObjectMeta;
  [field: string]: Json;
}

/** A Pod as its template says, controlled by the owner. Copied as deep as callers change it: metadata and spec are new objects. */
export function podFromTemplate(template: Json, owner: KubeObject): NewObject {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const prefix = `${owner.metadata.name}-`;
  return {
    metadata: {
      generateName: prefix.length > MAX_PREFIX ? owner.metadata.name : prefix,
      namespace: owner.metadata.namespace,
      labels: { ...labels },
      annotations: { ...annotations },
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [ownerReference(owner, { controller: true, blockOwnerDeletion: true })],
    },
    spec: { ...template.spec },
  };
}
