import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddedControlPlanes } from '../../../src/areas/clusters/control-plane/embedded/embedded-control-planes.ts';
import { ensureClusterKeys } from '../../../src/areas/clusters/control-plane/embedded/cluster-keys.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { controlPlaneConformance } from './control-plane.suite.ts';

const processesOf = (root: string, id: string): number[] => [
  (JSON.parse(readFileSync(join(root, 'records', `${id}.json`), 'utf8')) as { process: { pid: number } }).process.pid,
];

controlPlaneConformance('embedded', {
  open: (root, clock) =>
    new EmbeddedControlPlanes({
      root,
      program: resolve('dist/tenant-control-plane.js'),
      productVersion: '0.0.0-test',
      address: '127.0.0.1',
      serviceAddress: '10.96.0.1',
      clock,
      log: silentLog,
    }),
  processesOf,
  steadyProcessesOf: processesOf,
  async makeKeys(root, wanted, daysAgo) {
    const endpoint = { address: '127.0.0.1', serviceAddress: '10.96.0.1' };
    await ensureClusterKeys(join(root, wanted.id, 'pki'), wanted, endpoint, { now: () => Date.now() - daysAgo * 24 * 3600 * 1000 });
  },
  authorities: { ca: 'tenantry-ca', 'front-proxy-ca': 'tenantry-front-proxy-ca' },
  version: '1.35.4',
});
