import { TREE_LABEL_SUFFIX, treeLabel } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { compareText } from '../../../../kube/go-text.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isCopy } from './canonical-copy.ts';
import { isExcluded } from './exclusions.ts';
import { goesToQuietly, type Tree } from './decide-copy.ts';
import type { Destination } from './goes-to.ts';
import type { PropagatedType } from './objects-of-type.ts';
import type { PropagationSettings } from './propagation-settings.ts';

/** An object that somebody made, and the source above it that would be written over it. */
export interface Overwrite {
  object: KubeObject;
  by: KubeObject;
}

/** Some names exist in every namespace: then it is cheaper to look at those below than at all that have it. */
const FEW = 32;

/** Namespaces below whose own objects this source would replace, sorted. */
export function overwrittenBy(source: KubeObject, type: PropagatedType, tree: Tree, settings: PropagationSettings): string[] {
  const { namespace = '', name = '' } = source.metadata;
  const named = type.objects.sourcesNamed(name);
  if (named.length === 0 || isExcluded(source, settings)) return [];
  const isTaken = (below: string): boolean => {
    const object = type.objects.find(below, name);
    return object !== undefined && !isCopy(object);
  };
  const taken =
    named.length > FEW
      ? tree.descendants(namespace).filter(isTaken)
      : named.map(({ metadata }) => metadata.namespace!).filter((below) => tree.ancestors(below).includes(namespace));
  const goesThere = (below: string): boolean => {
    const destination = tree.get(below);
    return destination !== undefined && goesToQuietly(source, destination, type, settings);
  };
  return taken.filter(goesThere).sort(compareText);
}

/** Objects in a namespace and below it that would be replaced if it got another parent. */
export function overwrittenByMove(
  namespace: string,
  parent: string,
  type: PropagatedType,
  tree: Tree,
  settings: PropagationSettings,
): Overwrite[] {
  const above = [parent, ...tree.ancestors(parent)];
  const sources = new Map<string, KubeObject[]>();
  for (const ancestor of above) {
    for (const source of type.objects.sourcesIn(ancestor)) {
      const name = source.metadata.name!;
      sources.set(name, [...(sources.get(name) ?? []), source]);
    }
  }
  const found: Overwrite[] = [];
  if (sources.size === 0) return found;
  for (const below of [namespace, ...tree.descendants(namespace)]) {
    for (const object of type.objects.sourcesIn(below)) {
      const candidates = sources.get(object.metadata.name!);
      const destination = candidates && afterMove(tree, below, namespace, above);
      const by = destination && candidates.find((source) => goesToQuietly(source, destination, type, settings));
      if (by) found.push({ object, by });
    }
  }
  return found;
}

/** Every object that would be replaced if the type were propagated. */
export function overwrittenInTree(type: PropagatedType, names: Iterable<string>, tree: Tree, settings: PropagationSettings): Overwrite[] {
  const found: Overwrite[] = [];
  for (const namespace of names) {
    const destination = tree.get(namespace);
    if (!destination?.isManaged || tree.isHalted(namespace)) continue;
    const ancestors = tree.ancestors(namespace);
    for (const object of type.objects.sourcesIn(namespace)) {
      for (let i = ancestors.length - 1; i >= 0; i--) {
        const by = type.objects.find(ancestors[i], object.metadata.name!);
        if (by && !isCopy(by) && goesToQuietly(by, destination, type, settings)) found.push({ object, by });
      }
    }
  }
  return found;
}

/** The namespace with the tree labels that it would have. */
function afterMove(tree: Tree, below: string, moved: string, above: readonly string[]): Destination | undefined {
  const now = tree.get(below);
  if (!now) return undefined;
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(now.labels)) if (!key.endsWith(TREE_LABEL_SUFFIX)) labels[key] = value;
  const path = tree.ancestors(below);
  const upToMoved = below === moved ? [below] : [below, ...path.slice(0, path.indexOf(moved) + 1)];
  [...upToMoved, ...above].forEach((name, depth) => (labels[treeLabel(name)] = String(depth)));
  return { labels, role: now.role };
}
