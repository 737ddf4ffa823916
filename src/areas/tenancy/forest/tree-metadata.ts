import { INCLUDED_LABEL, TREE_LABEL_SUFFIX, treeLabel } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { externalManagerOf, isHaltedItself, managedEntries, type TreeNode, wayUp } from './tree-node.ts';
import { isManagedKey, type TreeSettings } from './tree-settings.ts';

type Entries = Record<string, string>;

/** The labels that the namespace should carry: its own, without what is the tree's to say, and what the tree says. */
export function labelsOf(node: TreeNode, settings: TreeSettings): Entries {
  const stored = node.facts?.labels ?? {};
  if (!node.isManaged) return without(stored, (key) => key === INCLUDED_LABEL);
  const external = externalManagerOf(node) !== undefined;
  const labels = external
    ? { ...stored }
    : without(stored, (key) => key.endsWith(TREE_LABEL_SUFFIX) || isManagedKey(settings.managedLabels, key));
  labels[INCLUDED_LABEL] = 'true';
  let depth = 0;
  for (const at of path(node)) {
    labels[treeLabel(at.name)] = String(depth);
    Object.assign(labels, managedOf(at, 'labels', settings));
    for (const [key, value] of externalTreeLabels(at)) labels[key] = String(depth + value);
    depth++;
  }
  const tenant = tenantOf(node);
  if (tenant === undefined) delete labels[TENANT_LABEL];
  else labels[TENANT_LABEL] = tenant;
  return labels;
}

export function annotationsOf(node: TreeNode, settings: TreeSettings): Entries {
  const stored = node.facts?.annotations ?? {};
  if (!node.isManaged || externalManagerOf(node) !== undefined) return { ...stored };
  const annotations = without(stored, (key) => isManagedKey(settings.managedAnnotations, key));
  for (const at of path(node)) Object.assign(annotations, managedOf(at, 'annotations', settings));
  return annotations;
}

/**
 * The tenant whose tree the namespace is in: the root says it, with a label that only the platform writes. Where the way to the root is
 * broken, and while a namespace terminates, what it was before holds: nobody leaves a tenant by losing its parent.
 */
export function tenantOf(node: TreeNode): string | undefined {
  if (!node.isManaged) return undefined;
  if (node.facts?.terminating) return node.facts.labels[TENANT_LABEL];
  const top = path(node).at(-1)!;
  const label = top.facts?.labels[TENANT_LABEL];
  if (top.parent || top.facts?.terminating) return label;
  return label === top.name ? label : undefined;
}

/** From the namespace up to the root, or to the first that is halted. */
function path(node: TreeNode): readonly TreeNode[] {
  const way = wayUp(node);
  const end = way.path.findIndex((at) => isHaltedItself(at, way));
  return end < 0 ? way.path : way.path.slice(0, end + 1);
}

function managedOf(node: TreeNode, of: 'labels' | 'annotations', settings: TreeSettings): Entries {
  const patterns = of === 'labels' ? settings.managedLabels : settings.managedAnnotations;
  if (patterns.length === 0) return {};
  const managed: Entries = {};
  for (const { key, value } of managedEntries(node, of)) if (isManagedKey(patterns, key)) managed[key] = value;
  if (externalManagerOf(node) === undefined) return managed;
  for (const [key, value] of Object.entries(node.facts?.[of] ?? {})) if (isManagedKey(patterns, key)) managed[key] = value;
  return managed;
}

/** What an external manager wrote about the namespaces above its own. */
function externalTreeLabels(node: TreeNode): [string, number][] {
  if (externalManagerOf(node) === undefined) return [];
  const found: [string, number][] = [];
  for (const [key, value] of Object.entries(node.facts?.labels ?? {})) {
    if (key.endsWith(TREE_LABEL_SUFFIX) && key !== treeLabel(node.name)) found.push([key, Number.parseInt(value, 10) || 0]);
  }
  return found;
}

function without(entries: Readonly<Entries>, drop: (key: string) => boolean): Entries {
  const kept: Entries = {};
  for (const key in entries) if (!drop(key)) kept[key] = entries[key]!;
  return kept;
}
