import { afterAll, describe } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { refusalsSuite } from '../integration/scheduler/refusals.suite.ts';
import { schedulerSuite } from '../integration/scheduler/scheduler.suite.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { startControllerManager } from './controller-manager.ts';
import { startKubeScheduler } from './kube-scheduler.ts';

// The suites of our scheduler on the real one: what they expect is what Kubernetes does and says.
function onKubernetes(suite: (name: string, connect: () => Promise<{ client: Client }>) => void): void {
  describe('the real one', () => {
    let plane: ControlPlane;
    let client: Client;
    const stops: (() => Promise<unknown>)[] = [];
    afterAll(async () => {
      for (const stop of stops) await stop();
      await client.close();
      await plane.stop();
    });

    suite('kube-scheduler', async () => {
      plane = await startControlPlane();
      client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
      stops.push(await startControllerManager(plane, ['node-lifecycle', 'namespace', 'serviceaccount', 'disruption']));
      stops.push(await startKubeScheduler(plane));
      return { client };
    });
  });
}

onKubernetes(schedulerSuite);
onKubernetes(refusalsSuite);
