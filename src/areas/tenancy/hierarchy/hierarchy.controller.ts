import { HierarchyConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { SubnamespaceAnchorKind } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { Namespace } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { definitionGoes } from './definition-goes.ts';
import { hierarchyWrite, unmanagedHierarchyPatch } from './model/hierarchy-write.ts';
import { dropsAncestors, namespacePatch } from './model/namespace-write.ts';

/** A change at the root is a write in each namespace below it; so many are on their way at once. */
const CONCURRENCY = 32;

/** Writes what the forest knows: a HierarchyConfiguration where there is something to say, and the labels of every namespace. */
export function hierarchyController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { client, clock, forest, informers } = environment;
  const namespaces = informers.get(Namespace);
  const hierarchies = informers.get(HierarchyConfigurationKind);
  const anchors = informers.get(SubnamespaceAnchorKind);

  const writeHierarchy = async (name: string): Promise<void> => {
    const namespace = forest.get(name)!;
    const stored = hierarchies.find(name, HIERARCHY_NAME);
    const resource = client.resource(HierarchyConfigurationKind, name);
    if (!namespace.isManaged) {
      const patch = unmanagedHierarchyPatch(stored);
      if (patch !== undefined) await resource.patch(HIERARCHY_NAME, { type: 'merge', patch });
      return;
    }
    const anchor = namespace.isSub ? anchors.find(namespace.parent, name) : undefined;
    const write = hierarchyWrite({ namespace, stored, anchor, frozen: forest.isFrozen, now: new Date(clock.now()) });
    if (!write) return;
    if ('create' in write) await resource.create(write.create);
    else await resource.patch(HIERARCHY_NAME, { type: 'merge', patch: write.patch });
  };

  const controller = new Controller({
    name: 'hierarchy',
    clock,
    log: environment.log,
    metrics: environment.metrics,
    concurrency: CONCURRENCY,
    async reconcile(name) {
      if (!forest.get(name)) return;
      await writeHierarchy(name).catch(unlessOvertaken);
      const namespace = forest.get(name);
      const stored = namespaces.get(name);
      if (!namespace || !stored) return;
      const patch = namespacePatch(namespace, stored);
      if (patch === undefined) return;
      // Not by its own deletion, but by that of its definition, which the watch has not told yet: nothing is taken apart.
      const isLost = !hierarchies.find(name, HIERARCHY_NAME) && dropsAncestors(patch);
      if (isLost && (await definitionGoes(client, HierarchyConfigurationKind))) return;
      await client.resource(Namespace).patch(name, { type: 'merge', patch }).catch(unlessOvertaken);
    },
  });
  controller
    .watch(namespaces)
    .watch(hierarchies, ({ object }) => [object.metadata.namespace!])
    .watch(anchors, ({ object }) => [object.metadata.namespace!, object.metadata.name!]);
  const unlisten = forest.onChange((names) => {
    for (const name of names) controller.queue.add(name);
  });
  return {
    start: () => void controller.start(),
    async stop() {
      unlisten();
      await controller.stop();
    },
  };
}

/** The object came or went while the write was on its way: the watch tells, and wakes this again. */
function unlessOvertaken(error: unknown): void {
  if (!isStatusError(error, 'AlreadyExists') && !isStatusError(error, 'NotFound')) throw error;
}
