import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Session } from '../krt/session.ts';

/** Watches a Tenant until it is as wanted; says in passing what it waits for. @returns undefined when it is gone */
export async function waitForTenant(
  session: Session,
  name: string,
  isDone: (tenant: Tenant) => boolean,
  timeoutMs: number,
): Promise<Tenant | undefined> {
  const tenants = session.cluster.client.resource(TenantKind);
  const signal = AbortSignal.timeout(timeoutMs);
  let said = '';
  try {
    for await (const update of tenants.watch({ fieldSelector: `metadata.name=${name}`, signal })) {
      if (update.type === 'DELETED') return undefined;
      if (!('object' in update)) continue;
      const tenant = update.object;
      if (tenant.metadata.name !== name) continue;
      if (isDone(tenant)) return tenant;
      const waiting = waitsFor(tenant);
      if (waiting !== said && session.errIsTerminal) session.err(`${waiting}\n`);
      said = waiting;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Error(
      `Cannot wait any longer for tenant "${name}": ${said || 'nothing happened'}; \`tenantry tenant get ${name}\` shows how it is`,
      {
        cause: error,
      },
    );
  }
  return undefined;
}

export function isReady(tenant: Tenant): boolean {
  const ready = findCondition(tenant.status?.conditions, 'Ready');
  return ready?.status === 'True' && (tenant.status?.observedGeneration ?? 0) >= (tenant.metadata.generation ?? 0);
}

function waitsFor(tenant: Tenant): string {
  const open = tenant.status?.conditions?.find(({ status }) => status === 'False');
  return open ? `${open.type}: ${open.message}` : `waiting for tenant ${tenant.metadata.name}`;
}
