import { HierarchyConfigurationKind } from '../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME } from '../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { SubnamespaceAnchorKind } from '../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { childNamespaceOf, TENANT_LABEL } from '../../api/tenantry.dev/v1alpha1/names.ts';
import { Namespace } from '../../client/kinds.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';

const MADE_WITHIN_MS = 30_000;

/** Asks for a namespace below another one, and waits until it is there. Inside a tenant the tenant's name is put in front. */
export async function create(session: Session, child: string): Promise<number> {
  const { client, server } = session.cluster;
  const parent = session.namespace;
  const where = { server, namespace: parent };
  const tenant = await attempting(`look at namespace "${parent}"`, where, () => tenantOf(session, parent));
  const name = tenant === undefined ? child : childNamespaceOf(tenant, child);
  const anchors = client.resource(SubnamespaceAnchorKind, parent);
  await attempting(`create namespace "${name}" below "${parent}"`, where, () => anchors.create({ metadata: { name }, spec: {} }));
  const signal = AbortSignal.timeout(MADE_WITHIN_MS);
  for await (const update of anchors.watch({ fieldSelector: `metadata.name=${name}`, signal })) {
    if (!('object' in update)) continue;
    const state: string | undefined = update.object.status?.status;
    if (state === 'Ok') break;
    if (state === 'Conflict' || state === 'Forbidden')
      throw new Error(
        `Cannot create namespace "${name}": its anchor in "${parent}" is in state ${state}; delete the anchor and choose another name`,
      );
  }
  session.out(`namespace ${name} created below ${parent}\n`);
  return 0;
}

export async function remove(session: Session, child: string, flags: { allowCascadingDeletion?: boolean }): Promise<number> {
  const { client, server } = session.cluster;
  const parent = session.namespace;
  const where = { server, namespace: parent };
  const tenant = await attempting(`look at namespace "${parent}"`, where, () => tenantOf(session, parent));
  const name = tenant === undefined ? child : childNamespaceOf(tenant, child);
  await attempting(`delete namespace "${name}"`, where, async () => {
    if (flags.allowCascadingDeletion) await setHierarchy(session, name, { allowCascadingDeletion: true });
    await client.resource(SubnamespaceAnchorKind, parent).delete(name);
  });
  session.out(`namespace ${name} is being deleted\n`);
  return 0;
}

export interface SetFlags {
  parent?: string;
  root?: boolean;
  allowCascadingDeletion?: boolean;
  forbidCascadingDeletion?: boolean;
}

/** Changes the place of a namespace in the tree. */
export async function set(session: Session, name: string, flags: SetFlags): Promise<number> {
  if (flags.root && flags.parent !== undefined)
    throw new Error('Cannot set --root and --parent together: a root has no parent; choose one');
  if (flags.allowCascadingDeletion && flags.forbidCascadingDeletion)
    throw new Error('Cannot set --allow-cascading-deletion and --forbid-cascading-deletion together; choose one');
  const spec: Record<string, unknown> = {};
  if (flags.root) spec.parent = null;
  if (flags.parent !== undefined) spec.parent = flags.parent;
  if (flags.allowCascadingDeletion) spec.allowCascadingDeletion = true;
  if (flags.forbidCascadingDeletion) spec.allowCascadingDeletion = null;
  if (Object.keys(spec).length === 0) throw new Error(`Cannot change "${name}": nothing to set was given; see tenantry ns set --help`);
  const where = { server: session.cluster.server, namespace: name };
  await attempting(`change the place of "${name}"`, where, () => setHierarchy(session, name, spec));
  session.out(`namespace ${name} changed\n`);
  return 0;
}

/** There is no hierarchy object before there is something to say. */
async function setHierarchy(session: Session, namespace: string, spec: object): Promise<void> {
  const hierarchies = session.cluster.client.resource(HierarchyConfigurationKind, namespace);
  try {
    await hierarchies.patch(HIERARCHY_NAME, { type: 'merge', patch: { spec } });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    const present = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
    await hierarchies.create({ metadata: { name: HIERARCHY_NAME }, spec: present });
  }
}

async function tenantOf(session: Session, namespace: string): Promise<string | undefined> {
  const { metadata } = await session.cluster.client.metadata(Namespace).get(namespace);
  return metadata.labels?.[TENANT_LABEL];
}
