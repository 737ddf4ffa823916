import { beforeAll } from 'vitest';
import { gvisorBackend } from '../../src/areas/clusters/machines/gvisor/gvisor-backend.ts';
import { nodeTools } from '../cluster/node-tools.ts';
import { machinesSuite } from '../conformance/machines/machines.suite.ts';
import { runsc } from './gvisor-binary.ts';

beforeAll(async () => {
  await nodeTools('busybox', 'ip', 'nft');
}, 600_000);

machinesSuite({
  provider: 'gvisor',
  backend: async (folders) => gvisorBackend({ program: await runsc(), namespaceOf: (id) => folders.namespace(id) }),
});
