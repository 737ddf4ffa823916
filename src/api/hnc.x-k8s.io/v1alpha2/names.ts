/** Names on the wire, as HNC 1.1 has them. */
export const HIERARCHY_NAME = 'hierarchy';
export const CONFIG_NAME = 'config';
/** After the name of an ancestor, on a namespace: how far up it is. */
export const TREE_LABEL_SUFFIX = '.tree.hnc.x-k8s.io/depth';
export const INCLUDED_LABEL = 'hnc.x-k8s.io/included-namespace';
export const SUBNAMESPACE_OF = 'hnc.x-k8s.io/subnamespace-of';
export const MANAGED_BY = 'hnc.x-k8s.io/managed-by';
export const INHERITED_FROM = 'hnc.x-k8s.io/inherited-from';
export const APP_MANAGED_BY = 'app.kubernetes.io/managed-by';
export const HRQ_LABEL = 'hnc.x-k8s.io/hrq';
/** The ResourceQuota that stands for all unscoped quotas above a namespace; a scoped one adds `-<name>`. */
export const HRQ_SINGLETON = 'hrq.hnc.x-k8s.io';
export const ANCHOR_FINALIZER = 'hnc.x-k8s.io';
export const HAS_SUBNAMESPACE_FINALIZER = 'hnc.x-k8s.io/hasSubnamespace';
export const EVENT_SOURCE = 'hnc.x-k8s.io';
/** Which destinations a source object goes to. */
export const SELECT = 'propagate.hnc.x-k8s.io/select';
export const TREE_SELECT = 'propagate.hnc.x-k8s.io/treeSelect';
export const NONE = 'propagate.hnc.x-k8s.io/none';
export const ALL = 'propagate.hnc.x-k8s.io/all';

export function treeLabel(ancestor: string): string {
  return `${ancestor}${TREE_LABEL_SUFFIX}`;
}
