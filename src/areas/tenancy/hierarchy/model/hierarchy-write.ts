import type { HierarchyConfiguration } from '../../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HAS_SUBNAMESPACE_FINALIZER, HIERARCHY_NAME } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { SubnamespaceAnchor } from '../../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import type { Condition } from '../../../../kube/conditions.ts';
import type { Json, ObjectMeta } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';
import { mergeDifference } from '../../../../runtime/steps/merge-difference.ts';
import type { TreeCondition, TreeNamespace } from '../../forest/tree-namespace.ts';

/** A condition that an ancestor puts on a namespace is computed on each read, so its time means nothing. */
const NO_TIME = '1970-01-01T00:00:00Z';

export type HierarchyWrite = { create: { metadata: ObjectMeta; spec: Json; status?: Json } } | { patch: Json };

export interface HierarchyInput {
  namespace: TreeNamespace;
  stored: HierarchyConfiguration | undefined;
  /** The anchor in the parent that made this namespace. */
  anchor: SubnamespaceAnchor | undefined;
  frozen: boolean;
  now: Date;
}

/** What to write so that the HierarchyConfiguration says what the tree is; undefined when it does, or need not exist. */
export function hierarchyWrite(input: HierarchyInput): HierarchyWrite | undefined {
  const { namespace, stored, frozen } = input;
  const wanted = wantedHierarchy(input);
  if (!stored) {
    const isEmpty = !wanted.finalizers && !wanted.status && Object.keys(wanted.spec).length === 0;
    if (isEmpty || namespace.terminating || frozen) return undefined;
    const { finalizers, spec, status } = wanted;
    const metadata = { name: HIERARCHY_NAME, namespace: namespace.name, ...(finalizers ? { finalizers } : {}) };
    return { create: { metadata, spec, ...(status ? { status } : {}) } };
  }
  const { metadata, spec, status } = stored;
  const before = { finalizers: metadata.finalizers, spec: { ...spec }, status: { ...status } };
  const difference = mergeDifference(before, { ...wanted, status: { ...wanted.status } });
  if (difference === undefined) return undefined;
  const { finalizers, ...rest } = difference;
  // The list of finalizers is replaced as a whole, and the user may be writing the spec: nothing unseen may be overwritten.
  return {
    patch: { ...rest, metadata: { resourceVersion: metadata.resourceVersion, ...(finalizers === undefined ? {} : { finalizers }) } },
  };
}

/** What to take off a HierarchyConfiguration in a namespace that is no part of the tree, so that it can be deleted. */
export function unmanagedHierarchyPatch(stored: HierarchyConfiguration | undefined): Json {
  if (!stored) return undefined;
  const { finalizers = [], resourceVersion } = stored.metadata;
  if (!finalizers.includes(HAS_SUBNAMESPACE_FINALIZER) && !stored.status?.children?.length) return undefined;
  const kept = finalizers.filter((finalizer) => finalizer !== HAS_SUBNAMESPACE_FINALIZER);
  return { metadata: { resourceVersion, finalizers: kept }, status: { children: null } };
}

function wantedHierarchy({ namespace, stored, anchor, now }: HierarchyInput) {
  const spec: Record<string, Json> = { ...stored?.spec };
  if (namespace.isSub) {
    spec['parent'] = namespace.parent;
    if (anchor) {
      const { labels, annotations } = (anchor.spec as SubnamespaceAnchor['spec'] | undefined) ?? {};
      setOrDelete(spec, 'labels', labels);
      setOrDelete(spec, 'annotations', annotations);
    }
  }
  const status: Record<string, Json> = {};
  if (namespace.children.length > 0) status['children'] = namespace.children;
  if (namespace.conditions.length > 0) status['conditions'] = timedConditions(namespace.conditions, stored?.status?.conditions ?? [], now);
  const finalizers = wantedFinalizers(namespace, stored);
  return { finalizers, spec, status: Object.keys(status).length > 0 ? status : undefined };
}

/**
 * A namespace with anchors keeps its configuration until they are gone: it says whether they may take their namespaces with them. A
 * configuration that is deleted on its own goes at once, and a new one follows.
 */
function wantedFinalizers(namespace: TreeNamespace, stored: HierarchyConfiguration | undefined): string[] | undefined {
  const now = stored?.metadata.finalizers ?? [];
  const deletedAlone = stored?.metadata.deletionTimestamp !== undefined && !namespace.terminating;
  const others = now.filter((finalizer) => finalizer !== HAS_SUBNAMESPACE_FINALIZER);
  if (namespace.anchors.size === 0 || deletedAlone) return others.length === now.length ? stored?.metadata.finalizers : others;
  // Nothing can be held back once the deletion has begun.
  if (stored?.metadata.deletionTimestamp !== undefined || others.length < now.length) return now;
  return [...now, HAS_SUBNAMESPACE_FINALIZER];
}

function timedConditions(conditions: readonly TreeCondition[], stored: readonly Condition[], now: Date): Condition[] {
  return conditions.map(({ type, status, reason, message }) => {
    const before = stored.find((condition) => condition.type === type && condition.reason === reason && condition.message === message);
    const lastTransitionTime =
      reason === 'AncestorHaltActivities' ? NO_TIME : before && before.status === status ? before.lastTransitionTime : formatTime(now);
    return { lastTransitionTime, message, reason, status, type };
  });
}

function setOrDelete(target: Record<string, Json>, key: string, value: Json): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}
