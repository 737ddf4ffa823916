import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { ConfigMap } from '../../../src/client/kinds.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startEngine, type Engine } from '../../../src/main/engine.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';

let data: string;
let engine: Engine;
let client: Client;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'informer-restart-'));
  engine = await start(0);
  client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: engine.kubeconfig }))));
});
afterAll(async () => {
  await client.close();
  await engine.stop();
  await rm(data, { recursive: true });
});

function start(port: number): Promise<Engine> {
  return startEngine({ data, address: '127.0.0.1', port, fallBackToFreePort: port === 0, version: '0', log: silentLog });
}

test('an informer over https misses and repeats nothing across restarts of the server', async () => {
  const informers = new SharedInformers({ client, log: silentLog });
  const informer = informers.get(ConfigMap, { namespace: 'default', labelSelector: 'counted' });
  const seen: string[] = [];
  informer.onChange(({ type, object }) => seen.push(`${type} ${object.metadata.name} ${object.data?.round ?? ''}`));
  await informer.whenSynced();
  const maps = client.resource(ConfigMap, 'default');
  const expected: string[] = [];
  const port = Number(new URL(engine.url).port);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10; i++) {
      await maps.create({ metadata: { name: `r${round}-${i}`, labels: { counted: '' } }, data: { round: String(round) } });
      expected.push(`added r${round}-${i} ${round}`);
    }
    await maps.delete(`r${round}-0`);
    expected.push(`deleted r${round}-0 ${round}`);
    await engine.stop();
    engine = await start(port);
  }
  await vi.waitFor(() => expect(seen).toEqual(expected), { timeout: 15_000, interval: 50 });
  await informers.stop();
});
