import { SubnamespaceAnchorKind } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { Namespace } from '../../../client/kinds.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { reconcileAnchor } from './reconcile-anchor.ts';
import { TornAnchors } from './torn-anchors.ts';

const BY_NAME = 'name';
const CONCURRENCY = 16;

/** Makes the namespaces that anchors ask for, and takes them away with their anchors, drained first. */
export function anchorController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { forest, informers, clock, log, metrics } = environment;
  const namespaces = informers.get(Namespace);
  const anchors = informers.get(SubnamespaceAnchorKind);
  anchors.addIndex(BY_NAME, ({ metadata }) => [metadata.name!]);
  const torn = new TornAnchors();
  const controller = new Controller({
    name: 'subnamespace-anchor',
    clock,
    log,
    metrics,
    concurrency: CONCURRENCY,
    reconcile: (key) => reconcileAnchor(environment, torn, key),
  });
  const anchorsNamed = (name: string): string[] => anchors.byIndex(BY_NAME, name).map(keyOf);
  const stopNoting = anchors.onChange((change) => torn.note(change));
  controller.watch(anchors).watch(namespaces, ({ object }) => anchorsNamed(object.metadata.name!));
  const unlisten = forest.onChange((names) => {
    for (const name of names) for (const key of anchorsNamed(name)) controller.queue.add(key);
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
