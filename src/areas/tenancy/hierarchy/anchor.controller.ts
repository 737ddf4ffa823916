import { SubnamespaceAnchorKind, type SubnamespaceAnchor } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { CustomResourceDefinition, Namespace } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { whyUnmanaged } from '../forest/tree-settings.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { DRAIN_AGAIN_MS, drainNamespaces } from './drain/drain-namespaces.ts';
import { definitionOf } from './drain/drained-kinds.ts';
import { anchorPatch, decideAnchor, type AnchorDecision } from './model/anchor-decision.ts';
import { newSubnamespace } from './model/new-subnamespace.ts';

const BY_NAME = 'name';
const CONCURRENCY = 16;

/** Makes the namespaces that anchors ask for, and takes them away with their anchors, drained first. */
export function anchorController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { client, forest, informers } = environment;
  const namespaces = informers.get(Namespace);
  const anchors = informers.get(SubnamespaceAnchorKind);
  const definitions = informers.get(CustomResourceDefinition, { metadataOnly: true });
  anchors.addIndex(BY_NAME, ({ metadata }) => [metadata.name!]);

  const decide = (anchor: SubnamespaceAnchor, child: KubeObject | undefined): AnchorDecision => {
    const { namespace: parent = '', name = '' } = anchor.metadata;
    const definition = definitions.get(definitionOf(SubnamespaceAnchorKind));
    return decideAnchor({
      anchor,
      child,
      parentManaged: whyUnmanaged(forest.settings, parent) === undefined,
      nameManaged: whyUnmanaged(forest.settings, name) === undefined,
      parentTerminating: forest.get(parent)?.terminating ?? true,
      childHasChildren: (forest.get(name)?.children.length ?? 0) > 0,
      cascades: forest.allowsCascadingDeletion(name),
      definitionDeleted: !definition || definition.metadata.deletionTimestamp !== undefined,
    });
  };

  const write = async (anchor: SubnamespaceAnchor, decision: AnchorDecision): Promise<void> => {
    const patch = anchorPatch(anchor, decision);
    const { namespace, name } = anchor.metadata;
    if (patch !== undefined) await client.resource(SubnamespaceAnchorKind, namespace).patch(name!, { type: 'merge', patch });
  };

  const create = async (name: string, parent: string): Promise<void> => {
    const above = forest.get(parent);
    if (above) await client.resource(Namespace).create(newSubnamespace(name, above)).catch(unless('AlreadyExists'));
  };

  /** With all that is below it, because whoever serves those finalizers has its rights from above. */
  const remove = async (child: KubeObject): Promise<ReconcileResult | void> => {
    const name = child.metadata.name!;
    const going = [name, ...forest.descendants(name).filter((below) => forest.get(below)?.isSub)];
    const remaining = await drainNamespaces(client, informers, going);
    if (remaining.length > 0) return { afterMs: DRAIN_AGAIN_MS };
    await client
      .resource(Namespace)
      .delete(name, { preconditions: { uid: child.metadata.uid } })
      .catch(unless('NotFound', 'Conflict'));
  };

  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const anchor = anchors.get(key);
    if (!anchor) return;
    const { namespace: parent = '', name = '', deletionTimestamp } = anchor.metadata;
    let child: KubeObject | undefined = namespaces.get(name);
    // The namespace may have been made a moment ago: an anchor that goes must not leave it behind.
    if (!child && deletionTimestamp) child = await client.resource(Namespace).get(name).catch(unless('NotFound'));
    const decision = decide(anchor, child);
    // The finalizer stands before the namespace is there, and the anchor goes after it.
    await write(anchor, decision);
    if (decision.action === 'create') await create(name, parent);
    if (decision.action === 'delete') return remove(child!);
  };

  const controller = new Controller({ ...environment, name: 'subnamespace-anchor', concurrency: CONCURRENCY, reconcile });
  const anchorsNamed = (name: string): string[] => anchors.byIndex(BY_NAME, name).map(keyOf);
  controller.watch(anchors).watch(namespaces, ({ object }) => anchorsNamed(object.metadata.name!));
  const unlisten = forest.onChange((names) => {
    for (const name of names) for (const key of anchorsNamed(name)) controller.queue.add(key);
  });
  return {
    start: () => void controller.start(),
    async stop() {
      unlisten();
      await controller.stop();
    },
  };
}

function unless(...reasons: Parameters<typeof isStatusError>[1][]): (error: unknown) => undefined {
  return (error) => {
    if (!reasons.some((reason) => isStatusError(error, reason))) throw error;
    return undefined;
  };
}
