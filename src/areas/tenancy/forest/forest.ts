import { MANAGED_BY, SUBNAMESPACE_OF } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { ROLE_LABEL, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { conditionsOf, FROZEN, haltedRoot, haltingCondition } from './tree-conditions.ts';
import { annotationsOf, labelsOf, tenantOf } from './tree-metadata.ts';
import type { AnchorFacts, HierarchyFacts, NamespaceFacts, TreeNamespace } from './tree-namespace.ts';
import {
  ancestorNodes,
  cycleOf,
  descendantNodes,
  exists,
  externalManagerOf,
  newNode,
  subnamespaceOf,
  type TreeNode,
  wantedParent,
} from './tree-node.ts';
import { DEFAULT_SETTINGS, type TreeSettings, whyUnmanaged } from './tree-settings.ts';

/** Told the namespaces whose place, children, conditions, labels or anchors may have changed, gone ones included. Must not throw. */
export type ForestListener = (names: readonly string[]) => void;

/** What everybody but the informers' followers may do with the forest. */
export type ReadonlyForest = Omit<Forest, 'setNamespace' | 'setHierarchy' | 'setAnchor' | 'setFrozen'>;

/**
 * The trees of namespaces, in memory: a pure function of the Namespaces, HierarchyConfigurations and SubnamespaceAnchors that it was
 * told, in whatever order they came. Reads are synchronous; the cost of a change is that of the subtree it is about.
 */
export class Forest {
  readonly settings: TreeSettings;
  #nodes = new Map<string, TreeNode>();
  #listeners = new Set<ForestListener>();
  /** The few that somebody else manages. */
  #external = new Set<TreeNode>();
  #frozen = false;

  constructor(settings: TreeSettings = DEFAULT_SETTINGS) {
    this.settings = settings;
  }

  /** The namespace, if it exists. */
  get(name: string): TreeNamespace | undefined {
    const node = this.#nodes.get(name);
    if (!node?.facts) return undefined;
    return (node.view ??= viewOf(node, this.settings, this.#frozen));
  }

  /** All namespaces that exist. */
  *names(): Generator<string> {
    for (const node of this.#nodes.values()) if (node.facts) yield node.name;
  }

  /** The definition of HierarchyConfiguration is going or gone: what the tree was must not be taken apart with it. */
  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** From the namespace's parent to the root; the last may not exist. Each name once, also in a cycle. */
  ancestors(name: string): string[] {
    const node = this.#nodes.get(name);
    return node ? Array.from(ancestorNodes(node), (above) => above.name) : [];
  }

  /** Everything below, parents before their children. Also for a name that does not exist but has children. */
  descendants(name: string): string[] {
    const node = this.#nodes.get(name);
    return node ? descendantNodes(node).map((below) => below.name) : [];
  }

  /** Nothing may be passed on to this namespace: it, or one above, has no decided place in the tree. */
  isHalted(name: string): boolean {
    return this.#frozen || this.haltedRoot(name) !== undefined;
  }

  /** The nearest namespace, itself or above, with a halting condition. */
  haltedRoot(name: string): string | undefined {
    const node = this.#nodes.get(name);
    return node ? haltedRoot(node)?.name : undefined;
  }

  /** Also for a namespace that is not there: its anchors may outlive it in a watch. */
  hasAnchor(namespace: string, name: string): boolean {
    return this.#nodes.get(namespace)?.anchors.has(name) ?? false;
  }

  /** Who keeps a hierarchy of its own that this tree label, of a namespace above ours, belongs to. */
  externalManagerOf(treeLabelKey: string): string | undefined {
    for (const node of this.#external) if (node.facts && treeLabelKey in node.facts.labels) return externalManagerOf(node);
    return undefined;
  }

  /** The namespace or one above it allows that subnamespaces go with their parents. */
  allowsCascadingDeletion(name: string): boolean {
    const node = this.#nodes.get(name);
    if (!node) return false;
    if (node.hierarchy?.allowCascadingDeletion) return true;
    if (cycleOf(node)) return false;
    for (const above of ancestorNodes(node)) if (above.hierarchy?.allowCascadingDeletion) return true;
    return false;
  }

  /** @returns the way to stop */
  onChange(listener: ForestListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A namespace is there, changed, or (undefined) gone. */
  setNamespace(name: string, facts: NamespaceFacts | undefined): void {
    const node = this.#nodes.get(name);
    if (deepEqual(node?.facts, facts)) return;
    this.#change(name, (changed) => (changed.facts = facts), reachesBeyond(node, facts) ? undefined : []);
  }

  setHierarchy(namespace: string, facts: HierarchyFacts | undefined): void {
    if (!deepEqual(this.#nodes.get(namespace)?.hierarchy, facts)) this.#change(namespace, (node) => (node.hierarchy = facts));
  }

  setAnchor(namespace: string, name: string, facts: AnchorFacts | undefined): void {
    if (deepEqual(this.#nodes.get(namespace)?.anchors.get(name), facts)) return;
    const child = this.#nodes.get(name);
    this.#change(
      namespace,
      (node) => {
        if (facts) node.anchors.set(name, facts);
        else node.anchors.delete(name);
      },
      // An anchor says what its child's labels are and whether it is one; nothing else below changes.
      child && subnamespaceOf(child) === namespace ? [child, ...descendantNodes(child)] : [],
    );
  }

  setFrozen(frozen: boolean): void {
    if (this.#frozen === frozen) return;
    this.#frozen = frozen;
    for (const node of this.#nodes.values()) node.view = undefined;
    const names = [...this.#nodes.keys()];
    for (const listener of this.#listeners) listener(names);
  }

  #change(name: string, apply: (node: TreeNode) => void, affected?: TreeNode[]): void {
    const node = this.#node(name);
    const changed = new Set<TreeNode>([node]);
    const take = (nodes: Iterable<TreeNode>): void => {
      for (const other of nodes) changed.add(other);
    };
    if (!affected) take(descendantNodes(node));
    take(affected ?? []);
    const before = node.parent;
    apply(node);
    if (externalManagerOf(node)) this.#external.add(node);
    else this.#external.delete(node);
    const wanted = wantedParent(node);
    if (before?.name !== wanted) {
      this.#attach(node, wanted);
      if (before) take([before]);
      if (node.parent) take([node.parent, ...descendantNodes(node)]);
    } else if (node.parent && !affected) take([node.parent]);
    for (const other of changed) other.view = undefined;
    for (const other of [node, before]) if (other) this.#drop(other);
    const names = Array.from(changed, (other) => other.name);
    for (const listener of this.#listeners) listener(names);
  }

  #attach(node: TreeNode, parent: string | undefined): void {
    node.parent?.children.delete(node);
    node.parent = parent === undefined ? undefined : this.#node(parent);
    node.parent?.children.add(node);
  }

  #node(name: string): TreeNode {
    let node = this.#nodes.get(name);
    if (!node) this.#nodes.set(name, (node = newNode(name, whyUnmanaged(this.settings, name) === undefined)));
    return node;
  }

  /** Forgets a name that nobody speaks of any more. */
  #drop(node: TreeNode): void {
    if (node.facts || node.hierarchy || node.anchors.size > 0 || node.children.size > 0) return;
    this.#nodes.delete(node.name);
  }
}

/** Whether its relatives are concerned. Most writes to a namespace, those of the tree's own labels first of all, concern only itself. */
function reachesBeyond(node: TreeNode | undefined, after: NamespaceFacts | undefined): boolean {
  const before = node?.facts;
  if (!before || !after || before.terminating !== after.terminating) return true;
  if (before.annotations[MANAGED_BY] || after.annotations[MANAGED_BY]) return true;
  if (before.annotations[SUBNAMESPACE_OF] !== after.annotations[SUBNAMESPACE_OF]) return true;
  // Only the top of a tree, or of what is left of one, says whose it is.
  return before.labels[TENANT_LABEL] !== after.labels[TENANT_LABEL] && (!node.parent || haltingCondition(node) !== undefined);
}

/** Most readers want one or two of its fields; what has to be computed is computed for those who ask. */
function viewOf(node: TreeNode, settings: TreeSettings, frozen: boolean): TreeNamespace {
  const { name, isManaged, hierarchy } = node;
  const facts = node.facts!;
  const tenant = once(() => tenantOf(node));
  const children = once(() =>
    Array.from(node.children)
      .filter(exists)
      .map((child) => child.name)
      .sort(),
  );
  const anchors = once(() => new Set(node.anchors.keys()));
  const conditions = once(() => (frozen ? (isManaged ? [FROZEN] : []) : conditionsOf(node, settings)));
  const labels = once(() => (frozen ? facts.labels : labelsOf(node, settings)));
  const annotations = once(() => (frozen ? facts.annotations : annotationsOf(node, settings)));
  return {
    name,
    uid: facts.uid,
    parent: node.parent?.name,
    isManaged,
    isSub: subnamespaceOf(node) !== undefined,
    externalManager: externalManagerOf(node),
    terminating: facts.terminating,
    allowCascadingDeletion: hierarchy?.allowCascadingDeletion ?? false,
    get children() {
      return children();
    },
    get anchors() {
      return anchors();
    },
    get conditions() {
      return conditions();
    },
    get labels() {
      return labels();
    },
    get annotations() {
      return annotations();
    },
    get tenant() {
      return tenant();
    },
    get role() {
      return tenant() === undefined ? undefined : facts.labels[ROLE_LABEL];
    },
  };
}

function once<T>(compute: () => T): () => T {
  let result: { value: T } | undefined;
  return () => (result ??= { value: compute() }).value;
}
