import { afterAll, describe } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import type { Running } from '../../src/engine/controllers/environment.ts';
import { startControllers } from '../../src/engine/controllers/start-controllers.ts';
import { silentLog } from '../../src/lib/log.ts';
import { HASTY_CLOCK } from '../integration/controllers/hpa-clock.ts';
import { horizontalPodAutoscalerSuite } from '../integration/controllers/hpa.suite.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { startControllerManager } from './controller-manager.ts';

/** The metrics APIs are found by the name of a Service: there is nobody to make endpoints, and they may not be on loopback. */
const BY_NAME = '--enable-aggregator-routing=false';

async function clientOf(plane: ControlPlane): Promise<Client> {
  return createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
}

describe('our controllers', () => {
  let plane: ControlPlane;
  let client: Client;
  let controllers: Running;
  afterAll(async () => {
    await controllers.stop();
    await client.close();
    await plane.stop();
  });

  horizontalPodAutoscalerSuite('a real kube-apiserver', async () => {
    plane = await startControlPlane({ flags: [BY_NAME] });
    client = await clientOf(plane);
    controllers = startControllers({ client, clock: HASTY_CLOCK, log: silentLog, rootCa: 'the CA' });
    return { client };
  });
});

// The same sentences from the real one: what the suite expects is what Kubernetes says.
describe('the real ones', () => {
  let plane: ControlPlane;
  let client: Client;
  let stop: (() => Promise<void>) | undefined;
  afterAll(async () => {
    await stop?.();
    await client.close();
    await plane.stop();
  });

  horizontalPodAutoscalerSuite('kube-apiserver with kube-controller-manager', async () => {
    plane = await startControlPlane({ flags: [BY_NAME] });
    client = await clientOf(plane);
    const names = ['horizontal-pod-autoscaler', 'deployment', 'replicaset', 'serviceaccount'];
    stop = await startControllerManager(plane, names, ['--horizontal-pod-autoscaler-sync-period=500ms']);
    return { client };
  });
});
