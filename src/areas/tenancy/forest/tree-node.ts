import { GROUP } from '../../../api/hnc.x-k8s.io/v1alpha2/group.ts';
import { MANAGED_BY, SUBNAMESPACE_OF } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { AnchorFacts, HierarchyFacts, KeyValue, NamespaceFacts, TreeNamespace } from './tree-namespace.ts';

/** A name in the forest: a namespace, or one that others only speak of. */
export interface TreeNode {
  readonly name: string;
  readonly isManaged: boolean;
  facts: NamespaceFacts | undefined;
  hierarchy: HierarchyFacts | undefined;
  /** The anchors in this namespace by name. */
  readonly anchors: Map<string, AnchorFacts>;
  parent: TreeNode | undefined;
  readonly children: Set<TreeNode>;
  /** What readers were given, until something it depends on changes. */
  view: TreeNamespace | undefined;
}

export function newNode(name: string, isManaged: boolean): TreeNode {
  return {
    name,
    isManaged,
    facts: undefined,
    hierarchy: undefined,
    anchors: new Map(),
    parent: undefined,
    children: new Set(),
    view: undefined,
  };
}

export function exists(node: TreeNode): boolean {
  return node.facts !== undefined && node.isManaged;
}

export function externalManagerOf(node: TreeNode): string | undefined {
  const manager = node.facts?.annotations[MANAGED_BY];
  return manager && manager !== GROUP ? manager : undefined;
}

/**
 * The namespace whose anchor made this one. Left aside while the namespace terminates, as in HNC: it leaves the tree, so that the
 * copies in it are no longer protected and it can become empty.
 */
export function subnamespaceOf(node: TreeNode): string | undefined {
  if (!node.facts || node.facts.terminating || externalManagerOf(node)) return undefined;
  return node.facts.annotations[SUBNAMESPACE_OF] || undefined;
}

/** The parent that the stored objects ask for. */
export function wantedParent(node: TreeNode): string | undefined {
  if (!exists(node) || externalManagerOf(node)) return undefined;
  return subnamespaceOf(node) ?? (node.hierarchy?.parent || undefined);
}

/** What its HierarchyConfiguration asks to be kept on the namespace; for a subnamespace its anchor says it. */
export function managedEntries(node: TreeNode, of: 'labels' | 'annotations'): readonly KeyValue[] {
  const parent = subnamespaceOf(node);
  const anchor = parent === undefined ? undefined : node.parent?.anchors.get(node.name);
  return (anchor ?? node.hierarchy)?.[of] ?? [];
}

/** From the parent to the root. A cycle ends where it meets a namespace for the second time. */
export function* ancestorNodes(node: TreeNode): Generator<TreeNode> {
  const seen = new Set([node]);
  for (let above = node.parent; above && !seen.has(above); above = above.parent) {
    seen.add(above);
    yield above;
  }
}

/** Everything below, parents before children. In a cycle the namespace itself is among them. */
export function descendantNodes(node: TreeNode): TreeNode[] {
  const found = new Set<TreeNode>(node.children);
  for (const below of found) for (const child of below.children) found.add(child);
  return [...found];
}

/** The way up from a namespace, itself first, each once; and the members of the cycle that it ends in, if it ends in one. */
export interface WayUp {
  path: readonly TreeNode[];
  cycle: ReadonlySet<TreeNode>;
}

const NO_CYCLE: ReadonlySet<TreeNode> = new Set();

/** One walk, however deep the tree is. */
export function wayUp(node: TreeNode): WayUp {
  const path = new Set<TreeNode>();
  let at: TreeNode | undefined = node;
  for (; at && !path.has(at); at = at.parent) path.add(at);
  const all = [...path];
  return { path: all, cycle: at ? new Set(all.slice(all.indexOf(at))) : NO_CYCLE };
}

/** The members of the cycle that the namespace is in, from each to its parent; undefined when it is in none. */
export function cycleOf(node: TreeNode): TreeNode[] | undefined {
  const { path, cycle } = wayUp(node);
  return cycle.has(node) ? [...path] : undefined;
}

/** The place of the namespace in the tree is not decided, by itself and not by what is above. */
export function isHaltedItself(node: TreeNode, { cycle }: WayUp): boolean {
  return cycle.has(node) || (node.parent !== undefined && !exists(node.parent));
}
