import { TenantKind } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Pod } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { longLivedController, orAborted, sleep, timeoutSignal } from '../../../lib/abort.ts';
import { turns } from '../../../lib/turn-queue.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { inParallel } from '../tenant/in-parallel.ts';
import { MeteredObjects, sourceId } from './metered-objects.ts';
import { UsageMeter } from './model/usage-meter.ts';
import { measuredRates } from './model/usage-rates.ts';
import { TenantMetrics } from './tenant-metrics.ts';
import { UsageRecords } from './usage-records.ts';

/** How often what was used is measured and written. */
export const METERING_INTERVAL_MS = 60_000;
const LAST_WRITE_MS = 5000;
const ITEMS_PER_STEP = 100;
const POD_METRICS = '/apis/metrics.k8s.io/v1beta1/pods';

/** Records what tenants use, from the first Tenant on. */
export function metering(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const stop = longLivedController();
  let running: Promise<void> | undefined;
  return {
    start() {
      const unlisten = environment.informers.get(TenantKind).onChange(() => {
        running ??= keepMetering(environment, stop.signal);
      });
      stop.signal.addEventListener('abort', unlisten, { once: true });
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** A server that cannot be reached when it begins is tried again. */
async function keepMetering(environment: TenancyEnvironment, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await meter(environment, signal);
    } catch (error) {
      if (signal.aborted) return;
      environment.log.warn('cannot record what tenants use, will try again', { error });
      await sleep(environment.clock, METERING_INTERVAL_MS, signal).catch(() => {});
    }
  }
}

async function meter(environment: TenancyEnvironment, signal: AbortSignal): Promise<void> {
  const { client, clock, log, informers, forest } = environment;
  const tenants = informers.get(TenantKind);
  const records = new UsageRecords(client);
  await records.open();
  const usage = new UsageMeter();
  const metrics = new TenantMetrics(environment.metrics);
  const created = (tenant: string): number => Date.parse(tenants.get(tenant)?.metadata.creationTimestamp ?? '') || clock.now();
  const objects = new MeteredObjects(environment, usage, (tenant) => Math.max(records.untilAtOpening(tenant) ?? 0, created(tenant)));
  const unlisten = forest.onChange((names) => {
    for (const name of names) if (!forest.get(name)) metrics.forget(name);
  });
  const write = (): Promise<void> =>
    inParallel(usage.tenants, async (tenant) => {
      const now = clock.now();
      for (const _ of usage.settle(tenant, now)) await turns.share();
      const rows = usage.take(tenant);
      if (rows.size === 0) return;
      try {
        await records.add(tenant, rows, now, (written) => metrics.add(tenant, written));
      } catch (error) {
        usage.giveBack(tenant, rows);
        log.warn('cannot record what a tenant used, will try again', { tenant, error });
      }
    });
  try {
    // Nothing changes when time passes, so no watch can tell that it did.
    for (;;) {
      await sleep(clock, METERING_INTERVAL_MS, signal);
      await measure(environment, usage);
      await write();
      await records.forgetOld(clock.now()).catch((error: unknown) => log.warn('cannot remove old records, will try again', { error }));
    }
  } finally {
    unlisten();
    objects.stop();
    // Whoever stops because the server is away does not wait for it.
    const patience = timeoutSignal(clock, LAST_WRITE_MS);
    await orAborted(write(), patience.signal).catch(() => {});
    patience.dispose();
  }
}

/** What Pods really use, where somebody measures it; it is asked again every time, because that may change. */
async function measure({ client, clock, log }: TenancyEnvironment, usage: UsageMeter): Promise<void> {
  if (usage.tenants.size === 0) return;
  try {
    const { items } = await client.request<{ items: KubeObject[] }>({ method: 'GET', path: POD_METRICS });
    const now = clock.now();
    for (const [index, item] of items.entries()) {
      usage.measured(sourceId(Pod.kind, item), measuredRates(item), now);
      if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) await turns.share();
    }
  } catch (error) {
    log.debug('use of Pods is not measured', { error });
  }
}
