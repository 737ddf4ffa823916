import { ANCHOR_FINALIZER, SUBNAMESPACE_OF } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { SubnamespaceAnchor } from '../../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';

export type AnchorState = 'Missing' | 'Ok' | 'Conflict' | 'Forbidden';

/** What is to be done about the namespace that an anchor asks for, besides writing the anchor. */
export type AnchorAction = 'create' | 'delete' | 'none';

export interface AnchorInput {
  anchor: SubnamespaceAnchor;
  /** The namespace of the anchor's name, if it exists. */
  child: KubeObject | undefined;
  /** The anchor is in a namespace that is part of the tree, and its name could be. */
  parentManaged: boolean;
  nameManaged: boolean;
  parentTerminating: boolean;
  childHasChildren: boolean;
  cascades: boolean;
  /** The definition of anchors is being deleted: that is no wish to delete namespaces. */
  definitionDeleted: boolean;
}

export interface AnchorDecision {
  /** Undefined: what is stored stays. */
  state: AnchorState | undefined;
  held: boolean;
  action: AnchorAction;
}

export function decideAnchor(input: AnchorInput): AnchorDecision {
  const { anchor, child, parentManaged, nameManaged, parentTerminating } = input;
  if (!parentManaged) return { state: undefined, held: false, action: 'none' };
  if (!nameManaged) return { state: 'Forbidden', held: false, action: 'none' };
  const state = stateOf(anchor, child);
  if (anchor.metadata.deletionTimestamp === undefined) {
    // The anchors of a namespace that goes are deleted next; nothing is begun for them.
    return { state, held: true, action: state === 'Missing' && !parentTerminating ? 'create' : 'none' };
  }
  const isHeld = anchor.metadata.finalizers?.includes(ANCHOR_FINALIZER) ?? false;
  if (state !== 'Ok' || !isHeld) return { state, held: false, action: 'none' };
  if (child!.metadata.deletionTimestamp !== undefined) return { state, held: true, action: 'none' };
  const keeps = input.definitionDeleted || (input.childHasChildren && !input.cascades);
  return keeps ? { state, held: false, action: 'none' } : { state, held: true, action: 'delete' };
}

function stateOf(anchor: SubnamespaceAnchor, child: KubeObject | undefined): AnchorState {
  if (!child) return 'Missing';
  return child.metadata.annotations?.[SUBNAMESPACE_OF] === anchor.metadata.namespace ? 'Ok' : 'Conflict';
}

/** The merge patch that makes an anchor say so; undefined when it does. */
export function anchorPatch(anchor: SubnamespaceAnchor, { state, held }: AnchorDecision): Json {
  const { finalizers = [], resourceVersion, deletionTimestamp } = anchor.metadata;
  const isHeld = finalizers.includes(ANCHOR_FINALIZER);
  const holds = held && (isHeld || deletionTimestamp === undefined);
  const saysOtherwise = state !== undefined && anchor.status?.status !== state;
  if (isHeld === holds && !saysOtherwise) return undefined;
  const others = finalizers.filter((finalizer) => finalizer !== ANCHOR_FINALIZER);
  return {
    metadata: { resourceVersion, ...(isHeld === holds ? {} : { finalizers: holds ? [...finalizers, ANCHOR_FINALIZER] : others }) },
    ...(saysOtherwise ? { status: { status: state } } : {}),
  };
}
