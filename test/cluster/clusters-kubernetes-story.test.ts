import { rmSync } from 'node:fs';
import { afterAll } from 'vitest';
import { controlPlanePrograms } from './binaries.ts';
import { clusterStory } from './clusters.suite.ts';

const programs = await controlPlanePrograms();
afterAll(() => rmSync(programs, { recursive: true, force: true }));

clusterStory({
  provider: 'kubernetes',
  flags: () => Promise.resolve(['--kubernetes-programs', programs]),
  // etcd reserves 64 MB for its log, twice while it starts for the first time, and 16 MB for its objects.
  diskSize: '160m',
  readsWithoutDisk: true,
  writeBytes: 900_000,
});
