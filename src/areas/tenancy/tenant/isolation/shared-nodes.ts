import { TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { done, stalled, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { IsolationProvider } from './isolation-provider.ts';
import { moveNext, plan, type MovePorts } from './move-pods.ts';

/** Namespaces on the nodes of everybody. */
export function sharedNodes(ports: MovePorts): IsolationProvider {
  return {
    async settle(tenant, now) {
      const unfinished = await leaveNodes(tenant, now, ports);
      if (unfinished) return unfinished;
      (tenant.status ??= {}).isolation = 'Namespace';
      return done(TenantReason.SharedNodes, 'its Pods share nodes with others');
    },
  };
}

/** Coming from nodes of its own: new Pods are no longer pinned, the others leave, the nodes are given back. @returns undefined when it has none */
export async function leaveNodes(tenant: Tenant, now: number, ports: MovePorts): Promise<Outcome | undefined> {
  const name = tenant.metadata.name!;
  const pinned = ports.isPinned(name);
  const nodes = ports.ownNodes(name);
  if (!pinned && nodes.length === 0 && tenant.status?.isolation !== 'DedicatedNodes') return undefined;
  ports.moving.add(name);
  const facts = await ports.facts(tenant);
  const wanted = plan(tenant, facts);
  if (wanted.obstacles.length > 0 && pinned) return stalled(TenantReason.Obstructed, wanted.obstacles.join('; '));
  await ports.unpin(name);
  const unfinished = await moveNext(tenant, wanted, facts, now, ports);
  if (unfinished) return unfinished;
  await ports.releaseNodes(name, nodes);
  ports.moving.delete(name);
  return undefined;
}
