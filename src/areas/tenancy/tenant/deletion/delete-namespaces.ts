import { HierarchyConfigurationKind } from '../../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME, SUBNAMESPACE_OF } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { SubnamespaceAnchorKind, type SubnamespaceAnchor } from '../../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import {
  COST_LABELS_ANNOTATION,
  NODE_POOL_ANNOTATION,
  RETAINED_ANNOTATION,
  RUN_SHARE_ANNOTATION,
  systemNamespaceOf,
  TENANT_LABEL,
} from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../../client/client.ts';
import { Namespace } from '../../../../client/kinds.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { Informer } from '../../../../runtime/informer/informer.ts';
import { inParallel } from '../in-parallel.ts';
import { FIELD_MANAGER } from '../owned-objects.ts';

export interface TreeCaches {
  client: Client;
  namespaces: Informer;
  anchors: Informer<SubnamespaceAnchor>;
  /** All namespaces of the tenant that still exist, those on their way out included. */
  namespacesOf(tenant: string): string[];
}

/**
 * One wave of deletion: first the owners' namespaces (by their anchors, or they would be made again), then the system namespace, whose
 * controllers the others may have needed, then the root. @returns what still exists
 */
export async function deleteNamespaces(caches: TreeCaches, tenant: string): Promise<string[]> {
  const all = caches.namespacesOf(tenant);
  const system = systemNamespaceOf(tenant);
  const owners = all.filter((name) => name !== tenant && name !== system);
  const wave = owners.length > 0 ? owners : all.includes(system) ? [system] : all;
  if (owners.length > 0 && all.includes(tenant)) await allowCascade(caches.client, tenant);
  await inParallel(wave, (name) => deleteOne(caches, name));
  return all;
}

async function allowCascade(client: Client, namespace: string): Promise<void> {
  const hierarchy = { metadata: { name: HIERARCHY_NAME, namespace }, spec: { allowCascadingDeletion: true } };
  await client.resource(HierarchyConfigurationKind, namespace).apply(hierarchy, { fieldManager: FIELD_MANAGER, force: true });
}

async function deleteOne({ client, namespaces, anchors }: TreeCaches, name: string): Promise<void> {
  const metadata = namespaces.get(name)?.metadata;
  if (!metadata || metadata.deletionTimestamp) return;
  const parent = metadata.annotations?.[SUBNAMESPACE_OF];
  const anchor = parent === undefined ? undefined : anchors.find(parent, name);
  if (anchor?.metadata.deletionTimestamp) return;
  try {
    if (anchor) await client.resource(SubnamespaceAnchorKind, parent).delete(name);
    else await client.resource(Namespace).delete(name, { preconditions: { uid: metadata.uid } });
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

/**
 * Every namespace becomes one of its own again, with what is in it. In three rounds, because an anchor takes its namespace with it unless
 * its controller has seen that the namespace is no longer its own; the root keeps its label until the end, or the rest would not be found
 * again. @returns the anchors that are in the way of the next round
 */
export async function dissolveTree(caches: TreeCaches, tenant: string): Promise<string[]> {
  const { client, namespaces, anchors, namespacesOf } = caches;
  const all = namespacesOf(tenant);
  const patch = (name: string, metadata: object): Promise<void> =>
    ignoringAbsence(client.resource(Namespace).patch(name, { type: 'merge', patch: { metadata } }));
  const subnamespaces = all.filter((name) => namespaces.get(name)?.metadata.annotations?.[SUBNAMESPACE_OF] !== undefined);
  // From the moment on in which it leaves the tree.
  const retained = { [RETAINED_ANNOTATION]: tenant };
  await inParallel(subnamespaces, (name) => patch(name, { annotations: { ...retained, [SUBNAMESPACE_OF]: null } }));

  const members = new Set(all);
  const left = [...anchors.list()].filter(({ metadata }) => members.has(metadata.namespace!));
  await inParallel(
    left.filter(({ metadata, status }) => status?.status === 'Conflict' && !metadata.deletionTimestamp),
    ({ metadata }) => ignoringAbsence(client.resource(SubnamespaceAnchorKind, metadata.namespace).delete(metadata.name!)),
  );
  if (subnamespaces.length > 0 || left.length > 0) return left.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

  const ours = [RUN_SHARE_ANNOTATION, NODE_POOL_ANNOTATION, COST_LABELS_ANNOTATION];
  const annotations = { ...Object.fromEntries(ours.map((key) => [key, null])), ...retained };
  await inParallel(
    all.filter((name) => name !== tenant),
    async (name) => {
      await patch(name, { annotations });
      const root = { type: 'merge' as const, patch: { spec: { parent: null } } };
      await ignoringAbsence(client.resource(HierarchyConfigurationKind, name).patch(HIERARCHY_NAME, root));
    },
  );
  if (members.has(tenant)) await patch(tenant, { annotations, labels: { [TENANT_LABEL]: null } });
  return [];
}

async function ignoringAbsence(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
