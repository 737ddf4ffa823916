import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTenancy, startTenancyControllers } from '../../src/areas/tenancy/start-tenancy.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { MetricsRegistry } from '../../src/lib/metrics.ts';
import { installObjects } from '../../src/main/areas.ts';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { connect } from './engine-process.ts';
import { ms, row, timed } from './figures.ts';
import { changeBinding, growTrees, reaches, treeIsComplete } from './tree.ts';

const DESCENDANTS = 1000;

/** Those that the build made: this file does not run from where it is written. */
function builtDefinitions(): KubeObject[] {
  const folder = join('dist', 'crds');
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as KubeObject);
}

/** The controllers in this process, the API server a real one. */
export async function benchKubernetes(): Promise<void> {
  const plane = await startControlPlane();
  try {
    const client = await connect(plane.kubeconfig);
    await installObjects(client, builtDefinitions());
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
