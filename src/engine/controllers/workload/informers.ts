import { Pod } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { ownerKeys } from '../../../runtime/owner-references.ts';
import type { Environment } from '../environment.ts';

const BY_NAMESPACE = 'namespace';
const BY_CONTROLLER = 'controller';

/** The cache of a kind that all workload controllers share. */
export function workloadInformer({ informers }: Environment, kind: Kind): Informer {
  const informer = informers.get<KubeObject>(kind, { transform: withoutManagedFields });
  informer.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace ?? '']);
  informer.addIndex(BY_CONTROLLER, (object) => [controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace)]);
  return informer;
}

export function podInformer(environment: Environment): Informer {
  return workloadInformer(environment, Pod);
}

export function inNamespace(informer: Informer, namespace: string | undefined): KubeObject[] {
  return informer.byIndex(BY_NAMESPACE, namespace ?? '');
}

export function controlledBy(informer: Informer, owner: { metadata: { uid?: string } }): KubeObject[] {
  return informer.byIndex(BY_CONTROLLER, owner.metadata.uid!);
}

/** What the owner controls and what nobody controls in its namespace. */
export function controlledOrOrphaned(informer: Informer, owner: KubeObject): KubeObject[] {
  return [...controlledBy(informer, owner), ...informer.byIndex(BY_CONTROLLER, orphansOf(owner.metadata.namespace))];
}

/** Changes of owned objects wake their controller, before and after; orphans wake every owner that would adopt them. */
export function wakeOwners(
  kind: Kind,
  owners: Informer,
  selects: (owner: KubeObject, object: KubeObject) => boolean,
): (change: Change<KubeObject>) => Iterable<string> {
  const owned = ownerKeys(kind.group, kind.kind);
  return (change) => {
    const keys = new Set(owned(change));
    if (change.type === 'modified') for (const key of owned({ object: change.previous })) keys.add(key);
    if (change.type !== 'deleted' && controllerOf(change.object) === undefined) {
      for (const owner of inNamespace(owners, change.object.metadata.namespace)) if (selects(owner, change.object)) keys.add(keyOf(owner));
    }
    return keys;
  };
}

/** Server-side bookkeeping that is often larger than the rest and that no controller reads. */
function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function orphansOf(namespace: string | undefined): string {
  return `orphans/${namespace ?? ''}`;
}
