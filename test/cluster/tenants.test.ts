import { describe } from 'vitest';
import { isolationMatrixSuite } from '../conformance/tenancy/isolation-matrix.suite.ts';
import { tenantNodesSuite } from '../conformance/tenancy/tenant-nodes.suite.ts';
import { tenantSuite } from '../conformance/tenancy/tenant.suite.ts';
import type { ApiTarget } from '../support/api-target.ts';
import { startKubeScheduler } from './kube-scheduler.ts';
import { startTenancyTarget } from './tenancy-target.ts';

const RIGHTS = 'clusterrole-aggregation';

/** With everything that makes, places and counts Pods. */
async function withScheduler(): Promise<ApiTarget> {
  const target = await startTenancyTarget([RIGHTS, 'deployment', 'replicaset', 'disruption']);
  const endScheduler = await startKubeScheduler(target);
  return {
    ...target,
    async close() {
      await endScheduler();
      await target.close();
    },
  };
}

describe('on a real kube-apiserver', () => {
  describe('life', () => tenantSuite(() => startTenancyTarget([RIGHTS])));
  describe('nodes', () => tenantNodesSuite(withScheduler));
  describe('isolation', () => isolationMatrixSuite(() => startTenancyTarget([RIGHTS])));
});
