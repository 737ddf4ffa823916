import { afterAll, beforeAll } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { calculateUsage, trackedResources } from '../../src/engine/apiserver/admission/quota/usage.ts';
import type { Running } from '../../src/engine/controllers/environment.ts';
import { startControllers } from '../../src/engine/controllers/start-controllers.ts';
import { realClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { clientSuite } from '../conformance/client/client.suite.ts';
import { controllersSuite } from '../integration/controllers/controllers.suite.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

// A real kube-apiserver without its controller-manager: client, runtime and built-in controllers are the same code as in the engine.
let plane: ControlPlane;
const open: Client[] = [];
const running: Running[] = [];
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(async () => {
  for (const controllers of running) await controllers.stop();
  for (const client of open) await client.close();
  await plane.stop();
});

async function connect(): Promise<{ client: Client; warnings: string[] }> {
  const warnings: string[] = [];
  const transport = await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig })));
  const client = createClient(transport, { onWarning: (text) => warnings.push(text) });
  open.push(client);
  return { client, warnings };
}

clientSuite('https to Kubernetes', connect);

controllersSuite('Kubernetes', async () => {
  const { client } = await connect();
  const log = createLog({ level: 'warn' });
  running.push(startControllers({ client, clock: realClock, log, rootCa: 'the CA', quota: { calculateUsage, trackedResources } }));
  return { client };
});
