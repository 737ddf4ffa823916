import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { TreeNamespace } from '../../forest/tree-namespace.ts';
import { mergeDifference } from '../../../../runtime/steps/merge-difference.ts';

/** The merge patch that gives a namespace the labels and annotations that the tree wants, undefined when it has them. */
export function namespacePatch(namespace: TreeNamespace, stored: KubeObject): Json {
  const { labels = {}, annotations = {} } = stored.metadata;
  const metadata = mergeDifference({ labels, annotations }, { labels: namespace.labels, annotations: namespace.annotations });
  return metadata === undefined ? undefined : { metadata };
}
