import { expect, it } from 'vitest';
import { ClusterCondition } from './cluster-names.ts';
import { tenantClusterDefinition } from './tenant-cluster.ts';

it('a TenantCluster has room for all of its conditions at once, and for Ready', () => {
  const { maxItems } = tenantClusterDefinition.status.schema.properties!['conditions'];
  expect(maxItems).toBeGreaterThan(Object.keys(ClusterCondition).length);
});
