import { HierarchyConfigurationKind, type HierarchyConfiguration } from '../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME, SUBNAMESPACE_OF } from '../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { Namespace } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';

/** What a tree is drawn from. */
export interface TreePlace {
  name: string;
  children: string[];
  isSub: boolean;
  notes: string[];
  inCycle: boolean;
}

/** Draws trees of namespaces, as `kubectl hns tree` does. */
export async function tree(session: Session, roots: string[], flags: { allNamespaces?: boolean }): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const starts = flags.allNamespaces ? await allRoots(session, where) : roots.length > 0 ? roots : [session.namespace];
  const places = new Map<string, TreePlace>();
  for (const root of starts) await attempting(`draw the tree of "${root}"`, where, () => gather(session, root, places));
  for (const line of drawTrees(starts, places)) session.out(`${line}\n`);
  return 0;
}

async function allRoots(session: Session, where: { server: string; namespace: string }): Promise<string[]> {
  const { client } = session.cluster;
  const [namespaces, hierarchies] = await attempting('list namespaces', where, () =>
    Promise.all([client.metadata(Namespace).list(), client.resource(HierarchyConfigurationKind).list()]),
  );
  const children = new Set(hierarchies.items.filter(({ spec }) => spec?.parent).map(({ metadata }) => metadata.namespace!));
  return namespaces.items.map(({ metadata }) => metadata.name!).filter((name) => !children.has(name));
}

async function gather(session: Session, name: string, places: Map<string, TreePlace>): Promise<void> {
  if (places.has(name)) return;
  const { client } = session.cluster;
  const isRoot = places.size === 0;
  let seen: [KubeObject, HierarchyConfiguration | undefined];
  try {
    seen = await Promise.all([client.metadata(Namespace).get(name), hierarchyOf(session, name)]);
  } catch (error) {
    if (isRoot || !isStatusError(error, 'Forbidden')) throw error;
    // A namespace of the platform within somebody's tree: its name is known, the rest is none of his business.
    places.set(name, { name, children: [], isSub: false, notes: [], inCycle: false });
    return;
  }
  const [namespace, hierarchy] = seen;
  const conditions = hierarchy?.status?.conditions ?? [];
  const children = hierarchy?.status?.children ?? [];
  places.set(name, {
    name,
    children,
    isSub: namespace.metadata.annotations?.[SUBNAMESPACE_OF] !== undefined,
    notes: conditions.map(({ type, reason, message }) => `${type} (${reason}): ${message}`),
    inCycle: conditions.some(({ reason }) => reason === 'InCycle'),
  });
  await Promise.all(children.map((child) => gather(session, child, places)));
}

async function hierarchyOf(session: Session, name: string): Promise<HierarchyConfiguration | undefined> {
  try {
    return await session.cluster.client.resource(HierarchyConfigurationKind, name).get(HIERARCHY_NAME);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** The lines of some trees, with what is wrong as numbered notes below them. */
export function drawTrees(roots: readonly string[], places: ReadonlyMap<string, TreePlace>): string[] {
  const notes: string[] = [];
  const lines: string[] = [];
  let hasSubs = false;
  const label = (place: TreePlace): string => {
    const numbers = place.notes.map((note) => (notes.includes(note) ? notes.indexOf(note) : notes.push(note) - 1) + 1);
    return numbers.length === 0 ? place.name : `${place.name} (${numbers.sort((a, b) => a - b).join(',')})`;
  };
  const draw = (place: TreePlace, prefix: string): void => {
    const children = place.children.map((name) => places.get(name)!).filter((child) => !(child.inCycle && place.inCycle));
    for (const [index, child] of children.entries()) {
      const isLast = index === children.length - 1;
      if (child.isSub) hasSubs = true;
      lines.push(`${prefix}${isLast ? '└── ' : '├── '}${child.isSub ? '[s] ' : ''}${label(child)}`);
      draw(child, `${prefix}${isLast ? '    ' : '│   '}`);
    }
  };
  for (const root of roots) {
    const place = places.get(root)!;
    lines.push(label(place));
    draw(place, '');
  }
  if (hasSubs) lines.push('', '[s] indicates subnamespaces');
  if (notes.length > 0) lines.push('', 'Conditions:', ...notes.map((note, index) => `${index + 1}) ${note}`));
  return lines;
}
