import { SubnamespaceAnchorKind, type SubnamespaceAnchor } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { Namespace } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import type { ReconcileResult } from '../../../runtime/controller.ts';
import { whyUnmanaged } from '../forest/tree-settings.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { definitionGoes } from './definition-goes.ts';
import { DRAIN_AGAIN_MS, drainNamespaces } from './drain/drain-namespaces.ts';
import { anchorPatch, decideAnchor, type AnchorDecision } from './model/anchor-decision.ts';
import { newSubnamespace } from './model/new-subnamespace.ts';
import type { TornAnchors } from './torn-anchors.ts';

/** Brings the namespace of one anchor, by `<parent>/<name>`, in line with it. */
export async function reconcileAnchor(environment: TenancyEnvironment, torn: TornAnchors, key: string): Promise<ReconcileResult | void> {
  const { client, informers } = environment;
  const anchor = informers.get(SubnamespaceAnchorKind).get(key);
  if (!anchor) {
    const last = torn.get(key);
    return last && finishTorn(environment, torn, key, last);
  }
  const { name = '', deletionTimestamp } = anchor.metadata;
  let child: KubeObject | undefined = informers.get(Namespace).get(name);
  // The namespace may have been made a moment ago: an anchor that goes must not leave it behind.
  if (!child && deletionTimestamp) child = await storedNamespace(environment, name);
  const decision = decide(
    environment,
    anchor,
    child,
    deletionTimestamp !== undefined && (await definitionGoes(client, SubnamespaceAnchorKind)),
  );
  // The finalizer stands before the namespace is there, and the anchor goes after it.
  const patch = anchorPatch(anchor, decision);
  if (patch !== undefined) await client.resource(SubnamespaceAnchorKind, anchor.metadata.namespace).patch(name, { type: 'merge', patch });
  if (decision.action === 'create') await create(environment, anchor);
  if (decision.action === 'delete') return remove(environment, child!);
}

function decide(
  { forest }: TenancyEnvironment,
  anchor: SubnamespaceAnchor,
  child: KubeObject | undefined,
  definitionDeleted: boolean,
): AnchorDecision {
  const { namespace: parent = '', name = '' } = anchor.metadata;
  return decideAnchor({
    anchor,
    child,
    parentManaged: whyUnmanaged(forest.settings, parent) === undefined,
    nameManaged: whyUnmanaged(forest.settings, name) === undefined,
    parentTerminating: forest.get(parent)?.terminating ?? true,
    childHasChildren: (forest.get(name)?.children.length ?? 0) > 0,
    cascades: forest.allowsCascadingDeletion(name),
    definitionDeleted,
  });
}

async function create({ client, forest }: TenancyEnvironment, { metadata }: SubnamespaceAnchor): Promise<void> {
  const parent = forest.get(metadata.namespace!);
  if (parent) await client.resource(Namespace).create(newSubnamespace(metadata.name!, parent)).catch(unless('AlreadyExists'));
}

/** Drains the namespace with all that is below it, because whoever serves those finalizers has its rights from above; then deletes it. */
async function remove({ client, forest, informers }: TenancyEnvironment, child: KubeObject): Promise<ReconcileResult | void> {
  const { name = '', uid } = child.metadata;
  const going = [name, ...forest.descendants(name).filter((below) => forest.get(below)?.isSub)];
  const remaining = await drainNamespaces(client, informers, going);
  if (remaining.length > 0) return { afterMs: DRAIN_AGAIN_MS };
  await client.resource(Namespace).delete(name, { preconditions: { uid } }).catch(unless('NotFound'));
}

/** Does for an anchor that was torn away what its deletion was meant to do. */
async function finishTorn(
  environment: TenancyEnvironment,
  torn: TornAnchors,
  key: string,
  anchor: SubnamespaceAnchor,
): Promise<ReconcileResult | void> {
  const { client } = environment;
  const child = await storedNamespace(environment, anchor.metadata.name!);
  const deletionTimestamp = formatTime(new Date(environment.clock.now()));
  const asDeleted = { ...anchor, metadata: { ...anchor.metadata, deletionTimestamp } };
  const { action } = decide(environment, asDeleted, child, await definitionGoes(client, SubnamespaceAnchorKind));
  const result = action === 'delete' ? await remove(environment, child!) : undefined;
  if (!result) torn.done(key, anchor);
  return result;
}

function storedNamespace({ client }: TenancyEnvironment, name: string): Promise<KubeObject | undefined> {
  return client.resource(Namespace).get(name).catch(unless('NotFound'));
}

function unless(reason: Parameters<typeof isStatusError>[1]): (error: unknown) => undefined {
  return (error) => {
    if (!isStatusError(error, reason)) throw error;
    return undefined;
  };
}
