import { HierarchyConfigurationKind } from '../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HIERARCHY_NAME, SUBNAMESPACE_OF } from '../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { TENANT_LABEL } from '../../api/tenantry.dev/v1alpha1/names.ts';
import { Namespace } from '../../client/kinds.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import { printBlock } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';

/** The place of a namespace: who is above, who below, and what is wrong. */
export async function describe(session: Session, name: string): Promise<number> {
  const { client, server } = session.cluster;
  const where = { server, namespace: name };
  const [namespace, hierarchy] = await attempting(`describe namespace "${name}"`, where, () =>
    Promise.all([
      client.metadata(Namespace).get(name),
      client
        .resource(HierarchyConfigurationKind, name)
        .get(HIERARCHY_NAME)
        .catch((error: unknown) => {
          if (isStatusError(error, 'NotFound')) return undefined;
          throw error;
        }),
    ]),
  );
  const parent: string | undefined = hierarchy?.spec?.parent;
  const isSub = namespace.metadata.annotations?.[SUBNAMESPACE_OF] !== undefined;
  const conditions = hierarchy?.status?.conditions ?? [];
  printBlock(session, [
    ['Namespace', name],
    ['Tenant', namespace.metadata.labels?.[TENANT_LABEL]],
    ['Parent', parent === undefined ? '<none>' : isSub ? `${parent} (by an anchor there)` : parent],
    ['Children', hierarchy?.status?.children?.join('\n') || '<none>'],
    ['Cascading deletion', hierarchy?.spec?.allowCascadingDeletion ? 'allowed' : 'not allowed'],
    [
      'Conditions',
      conditions.length === 0 ? '<none>' : conditions.map(({ type, reason, message }) => `${type} (${reason}): ${message}`).join('\n'),
    ],
  ]);
  return 0;
}
