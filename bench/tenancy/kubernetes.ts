import { openTenancy, startTenancyControllers } from '../../src/areas/tenancy/start-tenancy.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { MetricsRegistry } from '../../src/lib/metrics.ts';
import { installObjects } from '../../src/main/areas.ts';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { ownCustomResourceDefinitions } from '../../test/support/custom-resource-definitions.ts';
import { connect } from './engine-process.ts';
import { ms, row, timed } from './figures.ts';
import { changeBinding, growTrees, reaches, treeIsComplete } from './tree.ts';

const DESCENDANTS = 1000;

/** The controllers in this process, the API server a real one. */
export async function benchKubernetes(): Promise<void> {
  const plane = await startControlPlane();
  try {
    const client = await connect(plane.kubeconfig);
    await installObjects(client, ownCustomResourceDefinitions());
    const options = { client: await connect(plane.kubeconfig), clock: realClock, log: silentLog, metrics: new MetricsRegistry() };
    const environment = await openTenancy(options);
    const controllers = startTenancyControllers(environment);
    const grown = await timed(() => growTrees(client, DESCENDANTS, DESCENDANTS + 1));
    const complete = await timed(() => treeIsComplete(client, DESCENDANTS));
    row(`kube-apiserver: ${DESCENDANTS} namespaces, then in their tree`, `${ms(grown)}, ${ms(complete)}`, 'none');
    for (const user of ['first', 'second', 'third']) {
      const took = await reaches(client, DESCENDANTS, user, () => changeBinding(client, user));
      row(`kube-apiserver: a RoleBinding reaches ${DESCENDANTS} descendants`, ms(took), '<= 8000 ms');
    }
    await controllers.stop();
    await environment.stop();
  } finally {
    await plane.stop();
  }
}
