import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUNTIMED_READY } from '../../../src/api/kruntimes.io/v1alpha1/reasons.ts';
import { RuntimeKind, type Runtime, type RuntimeSpec } from '../../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { startRuns } from '../../../src/areas/runs/start-runs.ts';
import { Deployment, NetworkPolicy, Pod, PodDisruptionBudget } from '../../../src/client/kinds.ts';
import type { Json } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { ScriptedRuns } from './scripted-runs.ts';

describe('a Runtime', () => {
  let world: ScriptedRuns;
  let area: { stop(): Promise<void> };
  beforeAll(async () => {
    world = await ScriptedRuns.start();
    const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
    area = startRuns({ client: world.client, clock: realClock, log: silentLog, metrics: new MetricsRegistry(), settings });
  }, 30_000);
  afterAll(async () => {
    await area?.stop();
    await world?.stop();
  });

  const runtimes = () => world.client.resource(RuntimeKind, 'default');
  const create = (name: string, spec: Partial<RuntimeSpec> = {}): Promise<Runtime> =>
    runtimes().create({
      metadata: { name },
      spec: { template: { spec: { containers: [{ name: 'runtime', image: 'example/none' }] } }, ...spec },
    });
  const conditionOf = async (name: string, type: string) =>
    (await runtimes().get(name)).status?.conditions?.find((condition) => condition.type === type);

  it('has a budget for disruptions and is closed to its neighbours, and takes both with it when it goes', async () => {
    await create('leaving');
    const owned = [Deployment, NetworkPolicy, PodDisruptionBudget];
    const present = () =>
      Promise.all(
        owned.map(async (kind) =>
          (await world.client.resource<Json>(kind as never, 'default').list()).items.map(({ metadata }) => metadata.name),
        ),
      );
    await expect.poll(present).toEqual([['runtime-leaving'], ['runtime-leaving'], ['runtime-leaving']]);
    const budget = await world.client.resource(PodDisruptionBudget, 'default').get('runtime-leaving');
    expect(budget.spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: { runtime: 'leaving' } } });
    await expect.poll(() => conditionOf('leaving', 'DisruptionBudgeted')).toMatchObject({ status: 'True' });
    await runtimes().delete('leaving');
    await expect.poll(present, { timeout: 10_000 }).toEqual([[], [], []]);
  });

  it('that is gone leaves its Runs waiting, with the message of the original', async () => {
    await world.run('orphan', { runtime: 'leaving' });
    const { status } = await world.until('orphan', (run) => run.status?.message !== undefined);
    expect(status).toMatchObject({ phase: 'Pending', message: 'waiting for available runtime pods for runtime "leaving"' });
  });

  it('that is restricted does not take Runs from before it was there', async () => {
    await world.run('before', { runtime: 'guarded' });
    // Times are in whole seconds.
    await new Promise((resolve) => void setTimeout(resolve, 1100));
    await create('guarded', { access: 'Restricted' });
    const { status } = await world.until('before', (run) => run.status?.phase === 'Failed');
    expect(status?.message).toBe('the Run is older than the restricted Runtime "guarded"; create it again');
    await world.run('after', { runtime: 'guarded' });
    await expect.poll(() => conditionOf('guarded', 'AccessGuarded')).toMatchObject({ status: 'True', reason: 'Restricted' });
    expect((await world.get('after')).status?.phase ?? 'Pending').toBe('Pending');
  });

  it('whose interpreter is missing says so, and its Runs fail at once with that reason', async () => {
    await create('no-python');
    await world.run('early', { runtime: 'no-python' });
    const pods = world.client.resource(Pod, 'default');
    const mine = async () => (await pods.list({ labelSelector: 'runtime=no-python' })).items[0]?.metadata.name;
    await expect.poll(mine, { timeout: 10_000 }).toBeDefined();
    const report = { type: RUNTIMED_READY, status: 'False', reason: 'InterpreterMissing', message: 'interpreter not found: python3' };
    await pods.status.patch((await mine())!, { type: 'strategic', patch: { status: { conditions: [report] } } });
    await expect
      .poll(() => conditionOf('no-python', 'InterpreterAvailable'))
      .toMatchObject({ status: 'False', reason: 'InterpreterMissing', message: 'interpreter not found: python3' });
    expect(await conditionOf('no-python', 'Ready')).toMatchObject({ status: 'False', reason: 'InterpreterMissing' });
    const { status } = await world.until('early', (run) => run.status?.phase === 'Failed');
    expect(status?.conditions).toMatchObject([{ type: 'Running' }, { type: 'Completed', status: 'False', reason: 'InterpreterMissing' }]);
    await world.run('late', { runtime: 'no-python' });
    await world.until('late', (run) => run.status?.phase === 'Failed');
  });
});
