import { TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { IsolationProvider } from './isolation-provider.ts';
import { moveNext, plan, type MovePorts } from './move-pods.ts';

/**
 * Nodes of the tenant's own: label and taint first, then new Pods are pinned, then those that others have there leave, then the tenant's
 * own follow. Nodes that left the pool are given back when they are empty of the tenant.
 */
export function dedicatedNodes(ports: MovePorts): IsolationProvider {
  return {
    async settle(tenant, now) {
      const name = tenant.metadata.name!;
      ports.moving.add(name);
      const facts = await ports.facts(tenant);
      const wanted = plan(tenant, facts);
      const begun = ports.isPinned(name);
      if (wanted.obstacles.length > 0 && !begun) {
        // A tenant that never ran elsewhere waits for its nodes rather than start on those of everybody.
        if (tenant.status?.isolation === undefined) await ports.pin(name);
        return stalled(TenantReason.Obstructed, wanted.obstacles.join('; '));
      }
      await ports.takeNodes(name, wanted.nodes.take);
      await ports.pin(name);
      const nodes = [...wanted.nodes.take, ...wanted.nodes.keep].sort();
      if (nodes.length === 0) return stalled(TenantReason.Obstructed, wanted.obstacles.join('; '));
      const unfinished = await moveNext(tenant, wanted, facts, now, ports);
      if (unfinished) return unfinished;
      await ports.releaseNodes(name, wanted.nodes.release);
      ports.moving.delete(name);
      (tenant.status ??= {}).isolation = 'DedicatedNodes';
      return done(TenantReason.DedicatedNodes, `its Pods run on ${nodes.length} nodes of its own`);
    },
  };
}
