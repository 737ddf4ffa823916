import type { TreeCondition } from './tree-namespace.ts';
import { cycleOf, exists, isHaltedItself, managedEntries, subnamespaceOf, type TreeNode, wayUp } from './tree-node.ts';
import { isManagedKey, type TreeSettings } from './tree-settings.ts';

export const ACTIVITIES_HALTED = 'ActivitiesHalted';
export const BAD_CONFIGURATION = 'BadConfiguration';

/** Of every namespace while the definition of the tree's own kind is deleted. */
export const FROZEN: TreeCondition = halted('DeletingCRD', 'The HierarchyConfiguration CRD is being deleted; all propagation is disabled.');

/** Conditions of the namespace itself, without those that ancestors put on it. One per type: the last found, as in HNC. */
export function ownConditions(node: TreeNode, settings: TreeSettings): TreeCondition[] {
  return [haltingCondition(node), badConfiguration(node, settings)].filter((condition) => condition !== undefined);
}

/** Why nothing is passed on here: the place of the namespace in the tree is not decided. */
export function haltingCondition(node: TreeNode): TreeCondition | undefined {
  const { parent } = node;
  if (!parent) return undefined;
  const cycle = cycleOf(node);
  if (cycle) return halted('InCycle', `Namespace is a member of the cycle: ${describeCycle(cycle)}`);
  if (!parent.isManaged) return halted('IllegalParent', `Parent "${parent.name}" is an unmanaged namespace`);
  if (!exists(parent)) return halted('ParentMissing', `Parent "${parent.name}" does not exist`);
  return undefined;
}

/** The nearest namespace, this one or above, that has a halting condition. */
export function haltedRoot(node: TreeNode): TreeNode | undefined {
  const way = wayUp(node);
  return way.path.find((at) => isHaltedItself(at, way));
}

/** All conditions, as the HierarchyConfiguration shows them. */
export function conditionsOf(node: TreeNode, settings: TreeSettings): TreeCondition[] {
  const own = ownConditions(node, settings);
  const root = haltedRoot(node);
  if (!root || root === node) return own;
  const message = `Propagation paused in "${node.name}" and its descendants due to ActivitiesHalted condition on ancestor "${root.name}"`;
  return [halted('AncestorHaltActivities', message), ...own];
}

function badConfiguration(node: TreeNode, settings: TreeSettings): TreeCondition | undefined {
  for (const { key } of [...managedEntries(node, 'annotations')].reverse())
    if (!isManagedKey(settings.managedAnnotations, key))
      return bad('IllegalManagedAnnotation', `Not a legal managed annotation (set via --managed-namespace-annotation): ${key}`);
  for (const { key } of [...managedEntries(node, 'labels')].reverse())
    if (!isManagedKey(settings.managedLabels, key))
      return bad('IllegalManagedLabel', `Not a legal managed label (set via --managed-namespace-label): ${key}`);
  if (subnamespaceOf(node) && !node.parent?.anchors.has(node.name))
    return bad('SubnamespaceAnchorMissing', 'The anchor is missing in the parent namespace');
  return undefined;
}

/** Begins and ends with the smallest name, from parent to child, so that every member says the same. */
function describeCycle(members: TreeNode[]): string {
  const names = members.map((member) => member.name).reverse();
  const smallest = names.indexOf(names.reduce((a, b) => (b < a ? b : a)));
  const rotated = [...names.slice(smallest), ...names.slice(0, smallest)];
  return [...rotated, rotated[0]].join(' <- ');
}

function halted(reason: string, message: string): TreeCondition {
  return { type: ACTIVITIES_HALTED, status: 'True', reason, message };
}

function bad(reason: string, message: string): TreeCondition {
  return { type: BAD_CONFIGURATION, status: 'True', reason, message };
}
