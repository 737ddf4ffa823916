import { expect, test } from 'vitest';
import { MANAGED_BY, SUBNAMESPACE_OF, treeLabel } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { seededRandom } from '../../../lib/backoff.ts';
import { Forest } from './forest.ts';
import type { AnchorFacts, HierarchyFacts, NamespaceFacts } from './tree-namespace.ts';
import { DEFAULT_SETTINGS, managedKeyPattern } from './tree-settings.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'default'];
const settings = { ...DEFAULT_SETTINGS, managedLabels: [managedKeyPattern('m\\..*')] };

/** What a cluster would hold. */
class Stored {
  namespaces = new Map<string, NamespaceFacts>();
  hierarchies = new Map<string, HierarchyFacts>();
  anchors = new Map<string, AnchorFacts>();

  /** The same objects, told to a new forest, in another order. */
  forest(random: () => number): Forest {
    const forest = new Forest(settings);
    const told: (() => void)[] = [
      ...Array.from(
        this.namespaces,
        ([name, facts]) =>
          () =>
            forest.setNamespace(name, facts),
      ),
      ...Array.from(
        this.hierarchies,
        ([name, facts]) =>
          () =>
            forest.setHierarchy(name, facts),
      ),
      ...Array.from(
        this.anchors,
        ([key, facts]) =>
          () =>
            forest.setAnchor(key.split('/')[0], key.split('/')[1], facts),
      ),
    ];
    for (const tell of told.sort(() => random() - 0.5)) tell();
    return forest;
  }
}

function step(stored: Stored, forest: Forest, random: () => number): void {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)];
  const chance = (of: number): boolean => random() < of;
  const name = pick(NAMES);
  switch (pick(['namespace', 'namespace', 'hierarchy', 'hierarchy', 'anchor'] as const)) {
    case 'namespace': {
      const annotations = { ...(chance(0.3) ? { [SUBNAMESPACE_OF]: pick(NAMES) } : {}), ...(chance(0.1) ? { [MANAGED_BY]: 'ext' } : {}) };
      const labels = {
        ...(chance(0.3) ? { [TENANT_LABEL]: pick(NAMES) } : {}),
        ...(chance(0.3) ? { [treeLabel(pick(NAMES))]: '3' } : {}),
        ...(chance(0.2) ? { 'm.x': 'own' } : {}),
      };
      const facts = chance(0.2) ? undefined : { uid: name, labels, annotations, terminating: chance(0.15) };
      if (facts) stored.namespaces.set(name, facts);
      else stored.namespaces.delete(name);
      forest.setNamespace(name, facts);
      return;
    }
    case 'hierarchy': {
      const labels = chance(0.3) ? [{ key: pick(['m.x', 'm.y', 'bad']), value: name }] : [];
      const facts = {
        parent: chance(0.8) ? pick(NAMES) : undefined,
        allowCascadingDeletion: chance(0.2),
        labels,
        annotations: [],
        terminating: false,
      };
      if (chance(0.85)) stored.hierarchies.set(name, facts);
      else stored.hierarchies.delete(name);
      forest.setHierarchy(name, stored.hierarchies.get(name));
      return;
    }
    case 'anchor': {
      const child = pick(NAMES);
      if (chance(0.7))
        stored.anchors.set(`${name}/${child}`, { labels: chance(0.5) ? [{ key: 'm.z', value: name }] : [], annotations: [] });
      else stored.anchors.delete(`${name}/${child}`);
      forest.setAnchor(name, child, stored.anchors.get(`${name}/${child}`));
    }
  }
}

function everything(forest: Forest): unknown {
  return NAMES.map((name) => ({
    name,
    view: forest.get(name),
    ancestors: forest.ancestors(name),
    descendants: forest.descendants(name).sort(),
    halted: forest.haltedRoot(name),
    cascades: forest.allowsCascadingDeletion(name),
  }));
}

test.each(Array.from({ length: 20 }, (_, seed) => seed))('forest, equals one made anew, after any changes (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const stored = new Stored();
  const forest = new Forest(settings);
  const heard = new Set<string>();
  forest.onChange((names) => {
    for (const name of names) heard.add(name);
  });
  let before = new Map(NAMES.map((name) => [name, JSON.stringify(forest.get(name))]));
  for (let round = 0; round < 150; round++) {
    heard.clear();
    step(stored, forest, random);
    expect(everything(forest)).toEqual(everything(stored.forest(random)));
    const now = new Map(NAMES.map((name) => [name, JSON.stringify(forest.get(name))]));
    for (const name of NAMES) if (now.get(name) !== before.get(name)) expect(heard, `change of ${name} told`).toContain(name);
    before = now;
  }
});

test.each(Array.from({ length: 10 }, (_, seed) => seed))('tree labels, equal a walk up the parents (seed %i)', (seed) => {
  const random = seededRandom(1000 + seed);
  const stored = new Stored();
  const forest = new Forest(settings);
  for (let round = 0; round < 200; round++) step(stored, forest, random);
  for (const name of forest.names()) {
    const view = forest.get(name)!;
    if (!view.isManaged || view.externalManager) continue;
    const expected: Record<string, string> = { [treeLabel(name)]: '0' };
    let at = view;
    for (
      let depth = 1;
      at.parent && !at.conditions.some(({ reason }) => ['InCycle', 'ParentMissing', 'IllegalParent'].includes(reason));
      depth++
    ) {
      at = forest.get(at.parent)!;
      expected[treeLabel(at.name)] = String(depth);
      if (!at.externalManager) continue;
      for (const [key, value] of Object.entries(stored.namespaces.get(at.name)!.labels))
        if (key.includes('.tree.') && key !== treeLabel(at.name)) expected[key] = String(depth + Number(value));
    }
    expect(Object.fromEntries(Object.entries(view.labels).filter(([key]) => key.includes('.tree.')))).toEqual(expected);
  }
});
