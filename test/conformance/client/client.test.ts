import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { createInMemoryTransport } from '../../../src/client/in-memory/in-memory-transport.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { inProcessHandler } from '../../../src/engine/apiserver/in-process.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startEngine, type Engine } from '../../../src/main/engine.ts';
import { clientSuite } from './client.suite.ts';

let engine: Engine;
let data: string;
const open: Client[] = [];
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'client-suite-'));
  engine = await startEngine({ data, address: '127.0.0.1', port: 0, fallBackToFreePort: true, version: '0', log: silentLog });
});
afterAll(async () => {
  for (const client of open) await client.close();
  await engine.stop();
  await rm(data, { recursive: true });
});

function over(transport: Transport): { client: Client; warnings: string[] } {
  const warnings: string[] = [];
  const client = createClient(transport, { onWarning: (text) => warnings.push(text) });
  open.push(client);
  return { client, warnings };
}

clientSuite('https', async () => over(await connectContext(resolveContext(await loadKubeconfig({ path: engine.kubeconfig })))));

clientSuite('in-memory', () => {
  const administrator = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
  return Promise.resolve(over(createInMemoryTransport(inProcessHandler(engine.server, administrator))));
});
