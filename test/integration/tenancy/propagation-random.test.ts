import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Namespace, ConfigMap } from '../../../src/client/kinds.ts';
import type { PropagationMode } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import { installObjects } from '../../../src/main/areas.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../controllers/engine-in-memory.ts';
import { PropagationWorld } from './propagation-world.ts';

const NAMESPACES = ['root', 'root--sys', 'red', 'blue', 'deep', 'deeper', 'alone', 'other'];
const NAMES = ['m', 'n'];
const COLOURS = ['red', 'blue'];
const LABEL = 'hnc.x-k8s.io/inherited-from';
const EXCEPTIONS: Record<string, string>[] = [
  {},
  {},
  {},
  { 'propagate.hnc.x-k8s.io/none': 'true' },
  { 'propagate.hnc.x-k8s.io/all': 'true' },
  { 'propagate.hnc.x-k8s.io/select': 'colour=red' },
  { 'propagate.hnc.x-k8s.io/select': 'colour=red' },
  { 'propagate.hnc.x-k8s.io/select': 'colour=red' },
  { 'propagate.hnc.x-k8s.io/treeSelect': 'deep' },
  { 'propagate.hnc.x-k8s.io/treeSelect': '!red' },
  { 'tenantry.dev/propagate-to-platform': 'true' },
];

/** What was done, kept apart from everything that the product believes. */
interface Facts {
  parents: Map<string, string>;
  colours: Map<string, string>;
  mode: PropagationMode;
}

function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** From itself up to the root; undefined when the way leads nowhere. */
function pathOf(facts: Facts, namespace: string): string[] | undefined {
  const path = [namespace];
  for (let at = facts.parents.get(namespace); at; at = facts.parents.get(at)) {
    if (path.includes(at) || !NAMESPACES.includes(at)) return undefined;
    path.push(at);
  }
  return path;
}

function goes(facts: Facts, source: KubeObject, path: string[]): boolean {
  const annotations = source.metadata.annotations ?? {};
  const of = (key: string) => annotations[`propagate.hnc.x-k8s.io/${key}`];
  const isPlatform = path[0] === 'root--sys' && path.at(-1) === 'root';
  if (isPlatform && annotations['tenantry.dev/propagate-to-platform'] === undefined) return false;
  if (of('none') || (of('select') && facts.colours.get(path[0]) !== 'red')) return false;
  const tree = of('treeSelect');
  if (tree && (tree.startsWith('!') ? path.includes(tree.slice(1)) : !path.includes(tree))) return false;
  return facts.mode === 'Propagate' || Boolean(of('all') ?? of('select') ?? tree);
}

/** The copies that there must be, computed from nothing but the sources and the facts. Namespaces without a way to a root are left out. */
function expected(facts: Facts, objects: KubeObject[]): string[] {
  const sources = new Map<string, KubeObject>();
  for (const object of objects)
    if (!object.metadata.labels?.[LABEL]) sources.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
  const copies: string[] = [];
  for (const namespace of NAMESPACES) {
    const path = pathOf(facts, namespace);
    if (!path || facts.mode === 'Remove') continue;
    for (const name of NAMES) {
      const above = path
        .slice(1)
        .reverse()
        .map((ancestor) => sources.get(`${ancestor}/${name}`));
      const source = above.find((candidate) => candidate && goes(facts, candidate, path));
      if (source) copies.push(`${namespace}/${name} from ${source.metadata.namespace} ${source['data']?.value}`);
    }
  }
  return copies;
}

function found(facts: Facts, objects: KubeObject[]): string[] {
  const copies = objects.filter(({ metadata }) => metadata.labels?.[LABEL] && pathOf(facts, metadata.namespace!));
  return copies.map(({ metadata, data }) => `${metadata.namespace}/${metadata.name} from ${metadata.labels![LABEL]} ${data?.value}`);
}

let engine: InMemoryEngine;
let world: PropagationWorld;

beforeAll(async () => {
  engine = await startInMemoryEngine();
  await installObjects(engine.client, ownCustomResourceDefinitions());
  world = await PropagationWorld.start(engine.client);
});

afterAll(async () => {
  await world?.stop();
  await engine?.stop();
});

const ignoreMissing = (error: unknown): void => {
  if (!isStatusError(error, 'NotFound')) throw error;
};

async function someChange(facts: Facts, random: (below: number) => number, value: string): Promise<void> {
  const pick = <T>(of: readonly T[]): T => of[random(of.length)];
  const [namespace, name] = [pick(NAMESPACES), pick(NAMES)];
  const maps = engine.client.resource(ConfigMap, namespace);
  switch (random(9)) {
    case 0:
    case 1:
    case 2:
      return world.configMap(namespace, name, { value }, { annotations: pick(EXCEPTIONS) }).catch(ignoreMissing);
    case 3: {
      await maps.delete(name).catch(ignoreMissing);
      return undefined;
    }
    case 4:
    case 5: {
      // Mostly further up in the list, so that trees grow deep; sometimes a cycle, or a parent that does not exist.
      const above = NAMESPACES.slice(0, NAMESPACES.indexOf(namespace));
      const parent = pick(random(5) === 0 ? ['', ...NAMESPACES, 'missing'] : ['', ...above.slice(-2), ...above]);
      facts.parents.set(namespace, parent);
      return world.move(namespace, parent);
    }
    case 6: {
      const colour = pick(COLOURS);
      facts.colours.set(namespace, colour);
      await engine.client.resource(Namespace).patch(namespace, { type: 'merge', patch: { metadata: { labels: { colour } } } });
      return undefined;
    }
    case 7: {
      await maps.patch(name, { type: 'merge', patch: { data: { value: 'tampered' } } }).catch(ignoreMissing);
      return undefined;
    }
    default: {
      facts.mode = pick(['Propagate', 'Propagate', 'AllowPropagate', 'Remove'] as const);
      return world.configure([{ resource: 'configmaps', mode: facts.mode }]);
    }
  }
}

test.each([1, 2, 3])(
  'after any changes, the copies are those that the sources and the tree make; seed %i',
  { timeout: 120_000 },
  async (seed) => {
    const random = seeded(seed);
    const facts: Facts = { parents: new Map(), colours: new Map(), mode: 'Propagate' };
    await world.configure([{ resource: 'configmaps', mode: 'Propagate' }]);
    for (const name of NAMESPACES) {
      const labels = {
        colour: 'blue',
        ...(name === 'root' ? { 'tenantry.dev/tenant': 'root' } : name === 'root--sys' ? { 'tenantry.dev/role': 'tenant-system' } : {}),
      };
      await engine.client.resource(Namespace).apply({ metadata: { name, labels } }, { fieldManager: 'test', force: true });
      await world.move(name, '');
    }
    for (let round = 0; round < 25; round++) {
      for (let i = random(8); i >= 0; i--) await someChange(facts, random, `${round}.${i}`);
      await vi.waitFor(
        async () => {
          const objects = (await engine.client.resource(ConfigMap).list()).items.filter(({ metadata }) => NAMES.includes(metadata.name!));
          expect(found(facts, objects).sort(), `round ${round}: ${JSON.stringify([...facts.parents])}`).toEqual(
            expected(facts, objects).sort(),
          );
        },
        { timeout: 20_000, interval: 10 },
      );
    }
  },
);
