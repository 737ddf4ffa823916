import { TenantKind } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { isReady, waitForTenant } from './wait-for-tenant.ts';

const WAIT_MS = 300_000;

/** Scales everything of a tenant to zero and refuses more, or lets it go on as it was. */
export async function setSuspended(session: Session, name: string, suspended: boolean, flags: { wait?: boolean }): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const tenants = session.cluster.client.resource(TenantKind);
  const word = suspended ? 'suspend' : 'resume';
  const changed = await attempting(`${word} tenant "${name}"`, where, () =>
    tenants.patch(name, { type: 'merge', patch: { spec: { suspended: suspended || null } } }),
  );
  const phase = suspended ? 'Suspended' : 'Active';
  if (flags.wait !== false) {
    await waitForTenant(
      session,
      name,
      (tenant) =>
        tenant.status?.phase === phase && (isReady(tenant) || suspended) && tenant.metadata.generation! >= changed.metadata.generation!,
      WAIT_MS,
    );
  }
  session.out(`tenant ${name} ${suspended ? 'suspended' : 'resumed'}\n`);
  return 0;
}
