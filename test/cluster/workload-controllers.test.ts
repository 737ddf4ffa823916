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
import { cronJobSuite } from '../integration/controllers/cron-job.suite.ts';
import { daemonSetSuite } from '../integration/controllers/daemon-set.suite.ts';
import { deploymentSuite } from '../integration/controllers/deployment.suite.ts';
import { disruptionSuite } from '../integration/controllers/disruption.suite.ts';
import { jobSuite } from '../integration/controllers/job.suite.ts';
import { replicaSetSuite } from '../integration/controllers/replica-set.suite.ts';
import { statefulSetSuite } from '../integration/controllers/stateful-set.suite.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

// A real kube-apiserver without its controller-manager: the workload controllers are the same code as in the engine.
let plane: ControlPlane;
let client: Client;
let controllers: Running;
const warnings: string[] = [];
beforeAll(async () => {
  plane = await startControlPlane();
  client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
  const log = createLog({ level: 'warn', write: (line) => warnings.push(line) });
  controllers = startControllers({ client, clock: realClock, log, rootCa: 'the CA', quota: { calculateUsage, trackedResources } });
});
afterAll(async () => {
  await controllers.stop();
  await client.close();
  await plane.stop();
});

/** Each suite looks at the warnings of its own time. */
const connect = () => {
  warnings.length = 0;
  return Promise.resolve({ client, warnings });
};
replicaSetSuite('Kubernetes', connect);
deploymentSuite('Kubernetes', connect);
jobSuite('Kubernetes', connect);
daemonSetSuite('Kubernetes', connect);
statefulSetSuite('Kubernetes', connect);
disruptionSuite('Kubernetes', connect);
cronJobSuite('Kubernetes', connect);
