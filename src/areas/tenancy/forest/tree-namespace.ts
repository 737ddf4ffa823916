import type { Condition } from '../../../kube/conditions.ts';

/** What is wrong with a namespace's place in the tree. Conditions that do not hold are absent. */
export type TreeCondition = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'> & { status: 'True' };

export interface KeyValue {
  key: string;
  value: string;
}

/** A namespace as the tree sees it. A snapshot: valid until the next change, so read it anew after every await. */
export interface TreeNamespace {
  readonly name: string;
  readonly uid: string | undefined;
  /** As configured; it may be missing, unmanaged or a descendant: then a condition says so. */
  readonly parent: string | undefined;
  /** Existing namespaces that name this one as their parent, sorted. */
  readonly children: readonly string[];
  /** Names of the anchors in this namespace. */
  readonly anchors: ReadonlySet<string>;
  /** False for namespaces that the tree leaves alone: the platform's own. */
  readonly isManaged: boolean;
  /** Made by an anchor in its parent. */
  readonly isSub: boolean;
  /** Who else keeps this namespace's place in a hierarchy of its own; it has no parent here then. */
  readonly externalManager: string | undefined;
  readonly terminating: boolean;
  readonly allowCascadingDeletion: boolean;
  readonly conditions: readonly TreeCondition[];
  /** As they should be: with the tree's labels, whatever the stored object still says. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The tenant whose tree it is in. */
  readonly tenant: string | undefined;
  /** Set on a tenant's namespaces that are not its owners'. */
  readonly role: string | undefined;
}

/** What the stored objects say about one namespace. */
export interface NamespaceFacts {
  uid: string | undefined;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  terminating: boolean;
}

export interface HierarchyFacts {
  parent: string | undefined;
  allowCascadingDeletion: boolean;
  labels: readonly KeyValue[];
  annotations: readonly KeyValue[];
  terminating: boolean;
}

export interface AnchorFacts {
  labels: readonly KeyValue[];
  annotations: readonly KeyValue[];
}
