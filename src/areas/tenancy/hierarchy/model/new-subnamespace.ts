import { INCLUDED_LABEL, SUBNAMESPACE_OF, TREE_LABEL_SUFFIX, treeLabel } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import type { TreeNamespace } from '../../forest/tree-namespace.ts';

const POD_SECURITY = 'pod-security.kubernetes.io/';

/**
 * A subnamespace as it is created: with its place in the tree and its tenant from the first moment, so that there is none in which the
 * rules that select on those labels do not hold.
 */
export function newSubnamespace(name: string, parent: TreeNamespace): { metadata: ObjectMeta } {
  const labels: Record<string, string> = { [INCLUDED_LABEL]: 'true', [treeLabel(name)]: '0' };
  for (const [key, value] of Object.entries(parent.labels)) {
    if (key.endsWith(TREE_LABEL_SUFFIX)) labels[key] = String(Number(value) + 1);
  }
  if (parent.tenant !== undefined) labels[TENANT_LABEL] = parent.tenant;
  // What a tenant's Pods may ask for holds from the first moment as well.
  if (parent.tenant !== undefined)
    for (const [key, value] of Object.entries(parent.labels)) if (key.startsWith(POD_SECURITY)) labels[key] = value;
  return { metadata: { name, labels, annotations: { [SUBNAMESPACE_OF]: parent.name } } };
}
