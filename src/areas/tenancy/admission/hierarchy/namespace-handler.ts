import { GROUP } from '../../../../api/hnc.x-k8s.io/v1alpha2/group.ts';
import { INCLUDED_LABEL, MANAGED_BY, SUBNAMESPACE_OF, TREE_LABEL_SUFFIX, treeLabel } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import type { AdmissionHandler, AdmissionVerdict } from '../../../../runtime/admission/review.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { whyUnmanaged } from '../../forest/tree-settings.ts';
import { isPlatform } from '../platform-users.ts';
import { ALLOWED, conflict, forbidden, isTreeItself, NAMESPACES } from './refusal.ts';
import { deletionOutOfBounds, namespaceOutOfBounds } from './tenant-bounds.ts';

const GUIDE =
  'See https://github.com/kubernetes-sigs/hierarchical-namespaces/blob/master/docs/user-guide/concepts.md#included-namespace-label for detail';

/** Namespaces: the tree's labels are the tree's, and nothing is deleted that others live below. */
export function namespaceHandler({ forest }: { forest: ReadonlyForest }): AdmissionHandler {
  return ({ operation, object, oldObject, userInfo }) => {
    if (isTreeItself(userInfo)) return ALLOWED;
    const { metadata } = (operation === 'DELETE' ? oldObject : object)!;
    const name = metadata.name!;
    const previous = operation === 'UPDATE' ? oldObject?.metadata : undefined;
    const refusal =
      operation === 'DELETE'
        ? (subnamespaceDeletion(forest, metadata) ?? cascadingDeletion(forest, name))
        : (includedLabel(forest, metadata, previous) ??
          (previous ? externalManager(forest, metadata) : reservedName(forest, name)) ??
          treeLabels(metadata, previous));
    if (refusal) return refusal;
    if (isPlatform(userInfo)) return ALLOWED;
    const why = operation === 'DELETE' ? deletionOutOfBounds(metadata) : namespaceOutOfBounds(forest, metadata, previous);
    return why === undefined ? ALLOWED : forbidden(NAMESPACES, name, why);
  };
}

function treeLabels({ name = '', labels = {} }: ObjectMeta, previous: ObjectMeta | undefined): AdmissionVerdict | undefined {
  const before = previous?.labels ?? {};
  for (const [key, value] of Object.entries(labels)) {
    if (key.includes(TREE_LABEL_SUFFIX) && (before[key] ?? '') !== value)
      return forbidden(
        NAMESPACES,
        name,
        `cannot set or modify tree label "${key}" in namespace "${name}"; these can only be managed by HNC`,
      );
  }
  for (const key of Object.keys(before)) {
    if (key.includes(TREE_LABEL_SUFFIX) && !(key in labels))
      return forbidden(NAMESPACES, name, `cannot remove tree label "${key}" in namespace "${name}"; these can only be managed by HNC`);
  }
  return undefined;
}

function includedLabel(forest: ReadonlyForest, { name = '', labels }: ObjectMeta, previous: ObjectMeta | undefined) {
  const value = labels?.[INCLUDED_LABEL];
  if (previous && previous.labels?.[INCLUDED_LABEL] === value) return undefined;
  const isManaged = whyUnmanaged(forest.settings, name) === undefined;
  if (!isManaged && value !== undefined)
    return forbidden(
      NAMESPACES,
      name,
      `you cannot enforce webhook rules on this unmanaged namespace using the "${INCLUDED_LABEL}" label. ${GUIDE}`,
    );
  if (isManaged && value !== 'true')
    return forbidden(
      NAMESPACES,
      name,
      `you cannot change the value of the "${INCLUDED_LABEL}" label. It has to be set as true on all managed namespaces. ${GUIDE}`,
    );
  return undefined;
}

function externalManager(forest: ReadonlyForest, { name = '', annotations }: ObjectMeta): AdmissionVerdict | undefined {
  const manager = annotations?.[MANAGED_BY];
  const parent = forest.get(name)?.parent;
  if (!manager || manager === GROUP || parent === undefined) return undefined;
  const why = `is a child of "${parent}". Namespaces with parents defined by HNC cannot also be managed externally. To manage this namespace with "${manager}", first make it a root in HNC`;
  return forbidden(NAMESPACES, name, why);
}

/** HNC means to refuse these names and, comparing a name with whole label keys, never does; we do. */
function reservedName(forest: ReadonlyForest, name: string): AdmissionVerdict | undefined {
  const manager = forest.externalManagerOf(treeLabel(name));
  return manager === undefined ? undefined : conflict(NAMESPACES, name, `is reserved by the external hierarchy manager "${manager}"`);
}

function subnamespaceDeletion(forest: ReadonlyForest, { name = '', annotations }: ObjectMeta): AdmissionVerdict | undefined {
  const parent = annotations?.[SUBNAMESPACE_OF];
  if (!parent || !forest.hasAnchor(parent, name)) return undefined;
  const why = `is a subnamespace. Please delete the anchor from the parent namespace ${parent} to delete the subnamespace`;
  return forbidden(NAMESPACES, name, why);
}

function cascadingDeletion(forest: ReadonlyForest, name: string): AdmissionVerdict | undefined {
  if (forest.allowsCascadingDeletion(name)) return undefined;
  if (!forest.get(name)?.children.some((child) => forest.get(child)?.isSub)) return undefined;
  const why =
    "contains subnamespaces. Please remove all subnamespaces before deleting this namespace, or set 'allowCascadingDeletion' to delete them automatically";
  return forbidden(NAMESPACES, name, why);
}
