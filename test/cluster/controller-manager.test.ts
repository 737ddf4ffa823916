import { afterAll, beforeAll } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { cronJobSuite } from '../integration/controllers/cron-job.suite.ts';
import { daemonSetSuite } from '../integration/controllers/daemon-set.suite.ts';
import { deploymentSuite } from '../integration/controllers/deployment.suite.ts';
import { disruptionSuite } from '../integration/controllers/disruption.suite.ts';
import { eventsSuite } from '../integration/controllers/events.suite.ts';
import { jobSuite } from '../integration/controllers/job.suite.ts';
import { replicaSetSuite } from '../integration/controllers/replica-set.suite.ts';
import { servicesSuite } from '../integration/controllers/services.suite.ts';
import { statefulSetSuite } from '../integration/controllers/stateful-set.suite.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { startControllerManager } from './controller-manager.ts';

// The suites of our controllers on the real ones: what they expect is what Kubernetes does.
const CONTROLLERS =
  'deployment replicaset replicationcontroller statefulset daemonset job cronjob disruption serviceaccount garbage-collector namespace resourcequota pod-garbage-collector endpoints endpointslice endpointslice-mirroring'.split(
    ' ',
  );
let plane: ControlPlane;
let client: Client;
let stop: (() => Promise<void>) | undefined;
beforeAll(async () => {
  plane = await startControlPlane();
  client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
  stop = await startControllerManager(plane, CONTROLLERS);
});
afterAll(async () => {
  await stop?.();
  await client.close();
  await plane.stop();
});

const connect = () => Promise.resolve({ client, warnings: [] });
replicaSetSuite('kube-controller-manager', connect);
deploymentSuite('kube-controller-manager', connect, { mayHaveOneFewer: true });
jobSuite('kube-controller-manager', connect);
daemonSetSuite('kube-controller-manager', connect);
statefulSetSuite('kube-controller-manager', connect);
disruptionSuite('kube-controller-manager', connect);
cronJobSuite('kube-controller-manager', connect);
eventsSuite('kube-controller-manager', connect);
servicesSuite('kube-controller-manager', connect);
