import type { ReadonlyForest } from '../../forest/forest.ts';
import { whyUnmanaged } from '../../forest/tree-settings.ts';

/** What the API server has to be asked before a namespace gets another parent. */
export type MoveCheck =
  /** The user may change the hierarchy of this namespace. */
  | { kind: 'authorized'; namespace: string; reason: string }
  /** The namespace is gone, and not only unknown here. */
  | { kind: 'missing'; namespace: string };

/**
 * Within a tree the user must be an admin of the most recent common ancestor of the old and the new parent; between trees of the old
 * tree's root and of the new parent.
 */
export function moveChecks(forest: ReadonlyForest, current: string | undefined, proposed: string | undefined): MoveCheck[] {
  if (current === proposed) return [];
  const proposedParent = (): MoveCheck[] =>
    proposed === undefined ? [] : [{ kind: 'authorized', namespace: proposed, reason: 'proposed parent' }];
  if (current === undefined || whyUnmanaged(forest.settings, current) !== undefined) return proposedParent();
  if (!forest.get(current)) return [{ kind: 'missing', namespace: current }];
  const from = fromRoot(forest, current);
  const oldRoot: MoveCheck = { kind: 'authorized', namespace: from[0], reason: 'current root ancestor' };
  if (proposed === undefined) return [oldRoot];
  const to = fromRoot(forest, proposed);
  if (from[0] !== to[0]) return [oldRoot, ...proposedParent()];
  let common = 0;
  while (common + 1 < Math.min(from.length, to.length) && from[common + 1] === to[common + 1]) common++;
  const reason = `most recent common ancestor of current parent "${current}" and proposed parent "${proposed}"`;
  return [{ kind: 'authorized', namespace: from[common], reason }];
}

/** @returns why this namespace cannot be below that one, if it cannot */
export function whyNotParent(forest: ReadonlyForest, name: string, parent: string): string | undefined {
  if (name === parent) return `"${name}" cannot be set as its own parent`;
  const ancestry = [parent, ...forest.ancestors(parent)];
  const found = ancestry.indexOf(name);
  if (found < 0) return undefined;
  return `cycle when making "${parent}" the parent of "${name}": current ancestry is ${ancestry.slice(0, found + 1).join(' -> ')}`;
}

function fromRoot(forest: ReadonlyForest, name: string): string[] {
  return [name, ...forest.ancestors(name)].reverse();
}
