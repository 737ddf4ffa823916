import { TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { IsolationProvider } from './isolation-provider.ts';
import { moveNext, plan, type MovePorts } from './move-pods.ts';

/** Namespaces on the nodes of everybody. Coming from nodes of its own: new Pods are no longer pinned, the others leave, the nodes are given back. */
export function sharedNodes(ports: MovePorts): IsolationProvider {
  return {
    async settle(tenant, now) {
      const name = tenant.metadata.name!;
      const pinned = ports.isPinned(name);
      const nodes = ports.ownNodes(name);
      if (pinned || nodes.length > 0 || tenant.status?.isolation === 'DedicatedNodes') {
        ports.moving.add(name);
        const facts = await ports.facts(tenant);
        const wanted = plan(tenant, facts);
        if (wanted.obstacles.length > 0 && pinned) return stalled(TenantReason.Obstructed, wanted.obstacles.join('; '));
        await ports.unpin(name);
        const unfinished = await moveNext(tenant, wanted, facts, now, ports);
        if (unfinished) return unfinished;
        await ports.releaseNodes(name, nodes);
        ports.moving.delete(name);
      }
      (tenant.status ??= {}).isolation = 'Namespace';
      return done(TenantReason.SharedNodes, 'its Pods share nodes with others');
    },
  };
}
