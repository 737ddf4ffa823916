import type { KubeObject } from '../../../../kube/object.ts';
import type { ReadonlyForest } from '../../forest/forest.ts';
import { isCopy, isInSync } from './canonical-copy.ts';
import { UnreadableException } from './exceptions.ts';
import { goesTo, propagates, type Destination } from './goes-to.ts';
import type { PropagatedType } from './objects-of-type.ts';
import type { PropagationSettings } from './propagation-settings.ts';

/** What is to be done about one name in one namespace. */
export type CopyDecision =
  | { action: 'nothing' }
  | { action: 'create'; source: KubeObject }
  | { action: 'update'; source: KubeObject; existing: KubeObject }
  | { action: 'delete'; existing: KubeObject };

export type Tree = Pick<ReadonlyForest, 'get' | 'ancestors' | 'descendants' | 'isHalted'>;

const NOTHING: CopyDecision = { action: 'nothing' };

/**
 * Decides from the present state alone, so it does not matter what led to it. Of several sources above, the topmost that goes to the
 * namespace wins, over an object of the namespace's own too.
 *
 * A namespace that is going is left alone: what is in it, RoleBindings that controllers still need in particular, goes with it in the
 * order of its deletion.
 */
export function decideCopy(type: PropagatedType, tree: Tree, settings: PropagationSettings, namespace: string, name: string): CopyDecision {
  if (type.mode === 'Ignore') return NOTHING;
  const destination = tree.get(namespace);
  if (!destination?.isManaged || destination.terminating || tree.isHalted(namespace)) return NOTHING;
  const existing = type.objects.find(namespace, name);
  if (existing?.metadata.deletionTimestamp !== undefined) return NOTHING;
  const source = topmostSource(type, tree, settings, namespace, name, destination);
  if (source && !existing) return { action: 'create', source };
  if (source && existing) return isInSync(existing, source, settings) ? NOTHING : { action: 'update', source, existing };
  return existing && isCopy(existing) ? { action: 'delete', existing } : NOTHING;
}

function topmostSource(
  type: PropagatedType,
  tree: Tree,
  settings: PropagationSettings,
  namespace: string,
  name: string,
  destination: Destination,
): KubeObject | undefined {
  if (!propagates(type.mode)) return undefined;
  const ancestors = tree.ancestors(namespace);
  for (let i = ancestors.length - 1; i >= 0; i--) {
    const source = type.objects.find(ancestors[i], name);
    if (source && !isCopy(source) && goesToQuietly(source, destination, type, settings)) return source;
  }
  return undefined;
}

/** An object whose exceptions cannot be read goes nowhere; that it is so is said where the source is looked at. */
export function goesToQuietly(
  source: KubeObject,
  destination: Destination,
  type: Pick<PropagatedType, 'mode'>,
  settings: PropagationSettings,
): boolean {
  try {
    return goesTo(source, destination, type.mode, settings);
  } catch (error) {
    if (error instanceof UnreadableException) return false;
    throw error;
  }
}
