import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { findCondition } from '../../kube/conditions.ts';
import { isStatusError } from '../../kube/status.ts';
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
  const tell = (tenant: Tenant) => {
    const waiting = waitsFor(tenant);
    if (waiting !== said && session.errIsTerminal) session.err(`${waiting}\n`);
    said = waiting;
  };
  try {
    // From its present state on: a watch alone would never tell of one that is gone already.
    const first = await tenants.get(name, { signal });
    if (isDone(first)) return first;
    tell(first);
    const { resourceVersion } = first.metadata;
    for await (const update of tenants.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion, signal })) {
      if (update.type === 'DELETED') return undefined;
      if (!('object' in update)) continue;
      if (isDone(update.object)) return update.object;
      tell(update.object);
    }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
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
