import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunKind } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import {
  hourOf,
  METERING_LABEL,
  monthOf,
  readRows,
  recordName,
  sum,
  type Amounts,
} from '../../../src/api/tenantry.dev/v1alpha1/metering.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { METERING_INTERVAL_MS, metering } from '../../../src/areas/tenancy/metering/start-metering.ts';
import { openTenancy } from '../../../src/areas/tenancy/start-tenancy.ts';
import { ConfigMap, CustomResourceDefinition, Namespace, Pod } from '../../../src/client/kinds.ts';
import { FakeClock } from '../../../src/lib/clock-fake.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget } from '../../support/embedded-target.ts';

/** The middle of an hour, so that minutes stay in it. */
const START = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 1_800_000;
const RUN = { runtime: 'nobody-serves-it', source: { inline: 'true' }, mode: { task: {} } };

let world: TenantWorld;
beforeAll(async () => {
  // Without areas of its own, which would meter by the clock on the wall.
  world = await TenantWorld.over(await startEmbeddedTarget());
  for (const definition of ownCustomResourceDefinitions()) await world.client.resource(CustomResourceDefinition).create(definition);
  await world.eventually(async () => (await world.find(() => world.client.resource(TenantKind).list()))?.items);
  await world.eventually(async () => (await world.find(() => world.client.resource(RunKind, 'default').list()))?.items);
}, 60_000);
afterAll(() => world?.stop(), 30_000);

async function startMeter(clock: FakeClock) {
  const metrics = new MetricsRegistry();
  const environment = await openTenancy({ client: world.client, clock, log: silentLog, metrics });
  const meter = metering(environment);
  meter.start();
  return {
    metrics,
    async stop() {
      await meter.stop();
      await environment.stop();
    },
  };
}

async function recorded(namespace: string): Promise<Amounts> {
  const name = recordName('acme', monthOf(hourOf(START)));
  const record = await world.find(() => world.client.resource(ConfigMap, 'tenantry-system').get(name));
  let total: Amounts = {};
  for (const namespaces of readRows(record?.data).values()) total = sum(total, namespaces.get(namespace) ?? {});
  return total;
}

/** Minutes pass until it is on record: what the meter has heard of counts from there. */
function minutesUntil(clock: FakeClock, met: () => Promise<boolean>): Promise<boolean> {
  return world.eventually(async () => {
    await clock.advance(METERING_INTERVAL_MS);
    return met();
  });
}

it('what the Pods and Runs of a tenant use is on record, across a restart, and as metrics; nothing of others', async () => {
  const clock = new FakeClock(START);
  for (const name of ['acme', 'stranger'])
    await world.client.resource(Namespace).create({ metadata: { name, labels: name === 'acme' ? { 'tenantry.dev/tenant': name } : {} } });
  await world.client.resource(TenantKind).create({ metadata: { name: 'acme' }, spec: {} });
  let meter = await startMeter(clock);

  const containers = [{ name: 'main', image: 'example/app', resources: { requests: { cpu: '500m', memory: '2Gi' } } }];
  for (const namespace of ['acme', 'stranger']) {
    const spec = { nodeName: 'somewhere', containers, automountServiceAccountToken: false };
    await world.eventually(() =>
      world.client
        .resource(Pod, namespace)
        .create({ metadata: { name: 'web' }, spec })
        .catch(() => undefined),
    );
    await world.client.resource(RunKind, namespace).create({ metadata: { name: 'work' }, spec: RUN });
  }
  await minutesUntil(clock, async () => ((await recorded('acme')).cpuSeconds ?? 0) > 60 && (await recorded('acme')).runs === 1);
  const before = await recorded('acme');
  expect(before.memoryGiBHours! / before.cpuSeconds!).toBeCloseTo(4 / 3600, 4);
  expect(before.runSeconds).toBeUndefined();
  const text = meter.metrics.expose();
  expect(text).toContain('tenantry_tenant_runs_total{tenant="acme",namespace="acme"} 1');
  expect(text).toMatch(/tenantry_tenant_cpu_seconds_total\{tenant="acme",namespace="acme"\} [0-9.]+/);
  expect(text).not.toContain('stranger');

  // A clean end leaves nothing out, and the next one goes on from there.
  await clock.advance(10_000);
  await meter.stop();
  const atStop = await recorded('acme');
  // Ten seconds of half a CPU, and the minutes that were being written.
  expect((atStop.cpuSeconds! - before.cpuSeconds! - 5) % 30).toBeCloseTo(0, 1);
  await clock.advance(20_000);
  const records = world.client.resource(ConfigMap, 'tenantry-system');
  for (const month of ['2020-01', monthOf(hourOf(START))])
    await records.create({ metadata: { name: recordName('gone', month), labels: { [METERING_LABEL]: 'gone' } }, data: {} });
  meter = await startMeter(clock);
  const status = { phase: 'Running', startTime: new Date(clock.now()).toISOString() };
  await world.client.resource(RunKind, 'acme').status.patch('work', { type: 'merge', patch: { status } });
  await minutesUntil(clock, async () => ((await recorded('acme')).runSeconds ?? 0) >= 60);
  await world.eventually(async () => (await world.find(() => records.get(recordName('gone', '2020-01')))) === undefined);
  expect(await world.find(() => records.get(recordName('gone', monthOf(hourOf(START)))))).toBeDefined();
  const after = await recorded('acme');
  expect(after.runs).toBe(1);
  const secondsSince = (clock.now() - START) / 1000;
  expect(after.cpuSeconds!).toBeLessThanOrEqual(secondsSince / 2 + 1);
  expect(after.cpuSeconds! - atStop.cpuSeconds!).toBeGreaterThan(10);

  // Who uses nothing is not written about.
  await world.client.resource(RunKind, 'acme').delete('work');
  await world.client.resource(Pod, 'acme').delete('web', { gracePeriodSeconds: 0 });
  const version = async () =>
    (await world.client.resource(ConfigMap, 'tenantry-system').get(recordName('acme', monthOf(hourOf(START))))).metadata.resourceVersion;
  let last = '';
  await minutesUntil(clock, async () => last === (last = (await version())!));
  await clock.advance(5 * METERING_INTERVAL_MS);
  expect(await version()).toBe(last);
  await meter.stop();
}, 60_000);
