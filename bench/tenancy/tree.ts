import { HierarchyConfigurationKind } from '../../src/api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { INHERITED_FROM } from '../../src/api/hnc.x-k8s.io/v1alpha2/names.ts';
import type { Client } from '../../src/client/client.ts';
import { Namespace, RoleBinding } from '../../src/client/kinds.ts';

export const ROOT = 'bench';
const CONCURRENCY = 32;

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** One tree of so many descendants in three levels, and as many others, in trees of a hundred, as are left. */
export async function growTrees(client: Client, descendants: number, all: number): Promise<void> {
  const parents = new Map<string, string | undefined>([[ROOT, undefined]]);
  for (let i = 0; i < descendants; i++) parents.set(`${ROOT}-${i}`, i < 30 ? ROOT : `${ROOT}-${i % 30}`);
  for (let i = 0; parents.size < all; i++) parents.set(`other-${i}`, i % 100 === 0 ? undefined : `other-${i - (i % 100)}`);
  await inParallel([...parents.keys()], (name) => client.resource(Namespace).create({ metadata: { name } }));
  // Parents first, as people do it.
  const placed = [...parents].filter(([, parent]) => parent !== undefined).sort(([a], [b]) => a.length - b.length);
  await inParallel(placed, ([name, parent]) =>
    client
      .resource(HierarchyConfigurationKind, name)
      .apply({ metadata: { name: 'hierarchy' }, spec: { parent } }, { fieldManager: 'bench', force: true }),
  );
}

/** Namespaces that have the tree label of the root: the tree is as it was asked for. */
export async function treeIsComplete(client: Client, descendants: number): Promise<void> {
  const labelSelector = `${ROOT}.tree.hnc.x-k8s.io/depth`;
  while ((await client.resource(Namespace).listAll({ labelSelector })).items.length < descendants + 1) {
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
}

function binding(user: string) {
  return {
    metadata: { name: 'bench' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  };
}

export async function changeBinding(client: Client, user: string): Promise<void> {
  await client.resource(RoleBinding, ROOT).apply(binding(user), { fieldManager: 'bench', force: true });
}

/** Milliseconds from before the change until every copy is as it says, as a watch sees it. */
export async function reaches(client: Client, descendants: number, user: string, change: () => Promise<void>): Promise<number> {
  const stop = new AbortController();
  const seen = new Set<string>();
  const watch = client
    .resource(RoleBinding)
    .watch({ labelSelector: `${INHERITED_FROM}=${ROOT}`, sendInitialEvents: true, signal: stop.signal });
  let started = 0;
  for await (const update of watch) {
    if (update.type === 'SYNCED') {
      started = performance.now();
      void change();
    }
    if (update.type !== 'ADDED' && update.type !== 'MODIFIED') continue;
    if (update.object.subjects?.[0]?.name === user) seen.add(update.object.metadata.namespace!);
    if (started > 0 && seen.size === descendants) break;
  }
  const took = performance.now() - started;
  stop.abort();
  return took;
}

/** What every copy was last written as. */
export async function versions(client: Client): Promise<string> {
  const { items } = await client.resource(RoleBinding).listAll({ labelSelector: INHERITED_FROM });
  return items
    .map(({ metadata }) => `${metadata.namespace} ${metadata.resourceVersion}`)
    .sort()
    .join('\n');
}
