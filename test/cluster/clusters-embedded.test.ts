import { clusterStory } from './clusters.suite.ts';

clusterStory({
  provider: 'embedded',
  // The programs of the other one may be on the search path of whoever runs this.
  flags: () => Promise.resolve(['--kubernetes-programs', '/var/empty']),
  diskSize: '8m',
  readsWithoutDisk: true,
  writeBytes: 2000,
});
