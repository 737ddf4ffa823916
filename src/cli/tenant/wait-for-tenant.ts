import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Session } from '../terminal/session.ts';
import { waitForObject } from '../terminal/wait-for-object.ts';

/** @returns undefined when it is gone */
export function waitForTenant(
  session: Session,
  name: string,
  isDone: (tenant: Tenant) => boolean,
  timeoutMs: number,
): Promise<Tenant | undefined> {
  const tenants = session.cluster.client.resource(TenantKind);
  const waiting = { isDone, waitsFor, timeoutMs, what: `tenant "${name}"`, shownBy: `tenantry tenant get ${name}` };
  return waitForObject(session, tenants, name, waiting);
}

export function isReady(tenant: Tenant): boolean {
  const ready = findCondition(tenant.status?.conditions, 'Ready');
  return ready?.status === 'True' && (tenant.status?.observedGeneration ?? 0) >= (tenant.metadata.generation ?? 0);
}

function waitsFor(tenant: Tenant): string {
  const open = tenant.status?.conditions?.find(({ status }) => status === 'False');
  return open ? `${open.type}: ${open.message}` : `waiting for tenant ${tenant.metadata.name}`;
}
