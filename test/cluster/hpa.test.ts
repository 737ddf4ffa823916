import { spawn, type ChildProcess } from 'node:child_process';
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
import { binary } from './binaries.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

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
  let manager: ChildProcess;
  afterAll(async () => {
    const exited = new Promise((resolve) => void manager.once('exit', resolve));
    manager.kill('SIGKILL');
    await exited;
    await client.close();
    await plane.stop();
  });

  horizontalPodAutoscalerSuite('kube-apiserver with kube-controller-manager', async () => {
    const path = await binary('kube-controller-manager');
    plane = await startControlPlane({ flags: [BY_NAME] });
    client = await clientOf(plane);
    const names = ['horizontal-pod-autoscaler', 'deployment', 'replicaset', 'serviceaccount'].map((name) => `${name}-controller`);
    manager = spawn(
      path,
      [
        `--kubeconfig=${plane.kubeconfig}`,
        `--controllers=${names.join(',')}`,
        '--horizontal-pod-autoscaler-sync-period=500ms',
        '--leader-elect=false',
        '--secure-port=0',
      ],
      { stdio: 'ignore' },
    );
    return { client };
  });
});
