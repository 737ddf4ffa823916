import { spawn } from 'node:child_process';
import { describe } from 'vitest';
import { isolationMatrixSuite } from '../conformance/tenancy/isolation-matrix.suite.ts';
import { tenantNodesSuite } from '../conformance/tenancy/tenant-nodes.suite.ts';
import { tenantSuite } from '../conformance/tenancy/tenant.suite.ts';
import type { ApiTarget } from '../support/api-target.ts';
import { binary } from './binaries.ts';
import { startTenancyTarget } from './tenancy-target.ts';

const RIGHTS = 'clusterrole-aggregation';

/** With everything that makes, places and counts Pods. */
async function withScheduler(): Promise<ApiTarget> {
  const path = await binary('kube-scheduler');
  const target = await startTenancyTarget([RIGHTS, 'deployment', 'replicaset', 'disruption']);
  const scheduler = spawn(path, [`--kubeconfig=${target.kubeconfig}`, '--leader-elect=false', '--secure-port=0'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => void scheduler.once('exit', () => resolve()));
  return {
    ...target,
    async close() {
      scheduler.kill('SIGKILL');
      await ended;
      await target.close();
    },
  };
}

describe('on a real kube-apiserver', () => {
  describe('life', () => tenantSuite(() => startTenancyTarget([RIGHTS])));
  describe('nodes', () => tenantNodesSuite(withScheduler));
  describe('isolation', () => isolationMatrixSuite(() => startTenancyTarget([RIGHTS])));
});
