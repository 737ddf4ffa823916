import { TenantKind } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { tenantColumns } from './tenant-columns.ts';

export async function list(session: Session, flags: { selector?: string; output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const { items } = await attempting('list tenants', where, () =>
    session.cluster.client.resource(TenantKind).list({ labelSelector: flags.selector }),
  );
  const nothing = 'There are no tenants; `tenantry tenant create acme --owner alice` makes one';
  await printList(session, format, TenantKind, items, tenantColumns(new Date(session.clock.now())), nothing);
  return 0;
}
