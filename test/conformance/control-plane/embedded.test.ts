import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddedControlPlanes } from '../../../src/areas/clusters/control-plane/embedded/embedded-control-planes.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { controlPlaneConformance } from './control-plane.suite.ts';

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
  processesOf: (root, id) => [
    (JSON.parse(readFileSync(join(root, 'records', `${id}.json`), 'utf8')) as { process: { pid: number } }).process.pid,
  ],
  version: '1.35.4',
});
