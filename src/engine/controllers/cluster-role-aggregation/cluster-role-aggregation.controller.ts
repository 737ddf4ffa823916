import { ClusterRole } from '../../../client/kinds.ts';
import { semanticEqual } from '../../../kube/json-value.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { aggregateRules } from './aggregate.ts';

const FIELD_MANAGER = 'clusterrole-aggregation-controller';

/** Fills in the rules of ClusterRoles with an aggregationRule (`admin`, `edit`, `view`) from the roles that they select. */
export function clusterRoleAggregationController({ client, clock, log, metrics, informers }: Environment): Running {
  const roles = informers.get(ClusterRole);
  roles.addIndex('aggregated', (role) => (role.aggregationRule ? ['yes'] : []));
  const controller = new Controller({
    name: 'cluster-role-aggregation',
    clock,
    log,
    metrics,
    async reconcile(name, { signal }) {
      const role = roles.get(name);
      if (!role?.aggregationRule || role.metadata.deletionTimestamp !== undefined) return;
      const rules = aggregateRules(role, roles.list());
      if (semanticEqual(rules, role.rules)) return;
      await client.resource(ClusterRole).apply({ metadata: { name }, rules }, { fieldManager: FIELD_MANAGER, force: true, signal });
    },
  });
  // Which roles select which is not known beforehand, and there are few: each change looks at all of them.
  return controller.watch(roles, () => roles.byIndex('aggregated', 'yes').map((role) => role.metadata.name!)).start();
}
