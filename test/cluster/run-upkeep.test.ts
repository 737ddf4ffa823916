import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { runWithArtifacts, WITH_ARTIFACTS } from '../../src/areas/runs/artifacts/model/run-with-artifacts.ts';
import { silentLog } from '../../src/lib/log.ts';
import { SharedInformers } from '../../src/runtime/informer/shared-informers.ts';
import { runTtlSuite } from '../integration/runs/run-ttl.suite.ts';
import { ScriptedRuns } from '../integration/runs/scripted-runs.ts';
import { startControlPlane } from './control-plane.ts';

async function start() {
  const plane = await startControlPlane();
  return { kubeconfig: plane.kubeconfig, close: () => plane.stop() };
}

runTtlSuite('a real kube-apiserver', start);

describe('Runs with artifacts, on a real kube-apiserver', () => {
  let world: ScriptedRuns;
  beforeAll(async () => {
    world = await ScriptedRuns.start(start);
  });
  afterAll(() => world?.stop());

  it('are seen by those who clean up, and no others are', async () => {
    const informers = new SharedInformers({ client: world.client, log: silentLog });
    const runs = informers.get(RunKind, { fieldSelector: WITH_ARTIFACTS, transform: runWithArtifacts });
    await runs.whenSynced();
    await world.run('without');
    await world.run('with');
    await world.status('without', { phase: 'Succeeded' });
    await world.status('with', { phase: 'Succeeded', artifactStore: { driver: 's3', s3: { bucket: 'b' } } });
    await expect.poll(() => [...runs.list()].map(({ metadata }) => metadata.name)).toEqual(['with']);
    await informers.stop();
  });
});
