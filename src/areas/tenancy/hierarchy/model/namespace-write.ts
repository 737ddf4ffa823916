import { TREE_LABEL_SUFFIX } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { TreeNamespace } from '../../forest/tree-namespace.ts';
import { mergeDifference } from '../../../../runtime/steps/merge-difference.ts';

/** The merge patch that gives a namespace the labels and annotations that the tree wants, undefined when it has them. */
export function namespacePatch(namespace: TreeNamespace, stored: KubeObject): Json {
  const { labels = {}, annotations = {} } = stored.metadata;
  const metadata = mergeDifference({ labels, annotations }, { labels: namespace.labels, annotations: namespace.annotations });
  return metadata === undefined ? undefined : { metadata };
}

/** Whether a patch of a namespace says that it is no longer below somebody. */
export function dropsAncestors(patch: Json): boolean {
  const labels: Record<string, string | null> = patch?.metadata?.labels ?? {};
  return Object.entries(labels).some(([key, value]) => value === null && key.endsWith(TREE_LABEL_SUFFIX));
}
