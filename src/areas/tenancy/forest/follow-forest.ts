import { HierarchyConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { SubnamespaceAnchorKind } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { CustomResourceDefinition, Namespace } from '../../../client/kinds.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { Forest } from './forest.ts';
import type { TreeSettings } from './tree-settings.ts';

const HIERARCHY_DEFINITION = `${HierarchyConfigurationKind.plural}.${HierarchyConfigurationKind.group}`;

/** A forest that follows the stored objects; resolves when it has seen all that exist. */
export async function followForest(informers: SharedInformers, settings?: TreeSettings): Promise<Forest> {
  const forest = new Forest(settings);
  const namespaces = informers.get(Namespace);
  const hierarchies = informers.get(HierarchyConfigurationKind);
  const anchors = informers.get(SubnamespaceAnchorKind);
  namespaces.onChange(({ type, object: { metadata } }) => {
    const { uid, labels = {}, annotations = {}, deletionTimestamp } = metadata;
    const facts = { uid, labels, annotations, terminating: deletionTimestamp !== undefined };
    forest.setNamespace(metadata.name!, type === 'deleted' ? undefined : facts);
  });
  hierarchies.onChange(({ type, object: { metadata, ...rest } }) => {
    if (metadata.name !== HIERARCHY_NAME) return;
    const { parent, allowCascadingDeletion = false, labels = [], annotations = [] } = specOf(rest);
    const facts = { parent, allowCascadingDeletion, labels, annotations, terminating: metadata.deletionTimestamp !== undefined };
    forest.setHierarchy(metadata.namespace!, type === 'deleted' ? undefined : facts);
  });
  anchors.onChange(({ type, object: { metadata, ...rest } }) => {
    const { labels = [], annotations = [] } = specOf(rest);
    forest.setAnchor(metadata.namespace!, metadata.name!, type === 'deleted' ? undefined : { labels, annotations });
  });
  const definitions = informers.get(CustomResourceDefinition, { metadataOnly: true });
  definitions.onChange(({ type, object: { metadata } }) => {
    if (metadata.name === HIERARCHY_DEFINITION) forest.setFrozen(type === 'deleted' || metadata.deletionTimestamp !== undefined);
  });
  await Promise.all([namespaces, hierarchies, anchors, definitions].map((informer) => informer.whenSynced()));
  return forest;
}

/** Nothing on the wire makes anybody write a spec. */
function specOf<S extends object>(object: { spec?: S }): Partial<S> {
  return object.spec ?? {};
}
