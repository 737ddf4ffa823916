import { SubnamespaceAnchorKind } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { Namespace } from '../../../client/kinds.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { reconcileAnchor } from './reconcile-anchor.ts';
import { TornAnchors } from './torn-anchors.ts';

const BY_NAME = 'name';
const BY_NAMESPACE = 'namespace';
const CONCURRENCY = 16;

/** Makes the namespaces that anchors ask for, and takes them away with their anchors, drained first. */
export function anchorController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { forest, informers, clock, log, metrics } = environment;
  const namespaces = informers.get(Namespace);
  const anchors = informers.get(SubnamespaceAnchorKind);
  anchors.addIndex(BY_NAME, ({ metadata }) => [metadata.name!]);
  anchors.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace!]);
  const torn = new TornAnchors();
  const controller = new Controller({
    name: 'subnamespace-anchor',
    clock,
    log,
    metrics,
    concurrency: CONCURRENCY,
    reconcile: (key) => reconcileAnchor(environment, torn, key),
  });
  const found = (index: string, value: string): string[] => anchors.byIndex(index, value).map(keyOf);
  const stopNoting = anchors.onChange((change) => torn.note(change));
  controller.watch(anchors).watch(namespaces, ({ type, object: { metadata } }) => [
    ...found(BY_NAME, metadata.name!),
    // Its watch may be behind that of the anchors in it.
    ...(type === 'added' ? found(BY_NAMESPACE, metadata.name!) : []),
  ]);
  // Children, and whether they may go too, matter to anchors on their way out only.
  const unlisten = forest.onChange((names) => {
    for (const name of names)
      for (const anchor of anchors.byIndex(BY_NAME, name)) if (anchor.metadata.deletionTimestamp) controller.queue.add(keyOf(anchor));
  });
  return {
    start: () => void controller.start(),
    async stop() {
      unlisten();
      stopNoting();
      await controller.stop();
    },
  };
}
