import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MACHINE_PROVIDERS, type MachineProvider } from '../../src/api/tenantry.dev/v1alpha1/cluster-names.ts';
import { TenantClusterKind } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { TenantKind } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../src/client/client.ts';
import { isConditionTrue } from '../../src/kube/conditions.ts';
import { runsc } from '../../test/full/gvisor-binary.ts';
import { guestKernel, nodeTools } from '../../test/cluster/node-tools.ts';
import { startEngineProcess } from '../tenancy/engine-process.ts';

const TENANT = 'acme';
const WORKERS = 3;
/** Seconds. gVisor is no kernel of its own, and has none. */
const BARS: Partial<Record<MachineProvider, { bar: number; aim: number }>> = { uml: { bar: 8, aim: 3 }, tcg: { bar: 20, aim: 8 } };

/** How long a worker takes from the wish for it to its Node being ready, for each kind of machine that works here. Needs root. */
export async function benchWorkers(): Promise<void> {
  await nodeTools('qemu-system-x86_64', 'linux.uml', 'busybox', 'ip', 'nft', 'runc');
  await guestKernel();
  process.env['PATH'] += `:${join(await runsc(), '..')}`;
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-workers-'));
  const engine = await startEngineProcess(data, ['--kubernetes-programs', '/var/empty', '--cluster-network', 'linux']);
  try {
    await engine.client.resource(TenantKind).create({ metadata: { name: TENANT }, spec: {} });
    await untilTenant(engine.client);
    for (const machine of MACHINE_PROVIDERS) await measure(engine.client, data, machine);
  } finally {
    await engine.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** The first worker of a kind also waits for the image and for a guest that shows that it boots: those after it are what is measured. */
async function measure(client: Client, data: string, machine: MachineProvider): Promise<void> {
  const clusters = client.resource(TenantClusterKind, TENANT);
  const pool = (replicas: number) => ({ nodePools: [{ name: 'w', replicas, machine }] });
  await clusters.create({ metadata: { name: machine }, spec: { controlPlane: { provider: 'embedded' }, ...pool(1) } });
  try {
    const first = await seconds(() => untilWorkers(client, machine, 1));
    const made: number[] = [];
    const used: number[] = [];
    for (let workers = 2; workers <= WORKERS; workers++) {
      const load = loadavg()[0];
      const took = await seconds(async () => {
        await clusters.patch(machine, { type: 'merge', patch: { spec: pool(workers) } });
        await untilWorkers(client, machine, workers);
      });
      made.push(took);
      used.push(processorSeconds(data));
      console.log(`  ${machine}: worker ${workers} ready after ${took.toFixed(1)} s (load before ${load.toFixed(1)})`);
    }
    const { bar, aim } = BARS[machine] ?? {};
    const promise = bar === undefined ? 'no bar' : `bar ${bar}, aim ${aim}`;
    const best = Math.min(...made).toFixed(1);
    console.log(
      `${machine}: create -> Node Ready ${best} s (${promise}; its process used ${Math.min(...used).toFixed(1)} s); the first, with image and probe, ${first.toFixed(1)} s`,
    );
  } catch (error) {
    console.log(`${machine}: ${(error as Error).message}`);
  } finally {
    await clusters.delete(machine);
    for await (const update of clusters.watch({ fieldSelector: `metadata.name=${machine}` })) if (update.type === 'DELETED') break;
  }
}

async function untilTenant(client: Client): Promise<void> {
  for await (const update of client.resource(TenantKind).watch({ fieldSelector: `metadata.name=${TENANT}` })) {
    if ('object' in update && isConditionTrue(update.object.status?.conditions, 'Ready')) return;
  }
}

async function untilWorkers(client: Client, name: string, count: number): Promise<void> {
  const clusters = client.resource(TenantClusterKind, TENANT);
  for await (const update of clusters.watch({ fieldSelector: `metadata.name=${name}` })) {
    if (!('object' in update) || update.type === 'DELETED') continue;
    const cluster = update.object;
    const condition = cluster.status?.conditions?.find(({ type }) => type === 'WorkersReady');
    if (condition?.status === 'False' && condition.message?.includes('there are no machines')) throw new Error(condition.message);
    const ready = cluster.status?.workers?.filter(({ phase }) => phase === 'Ready') ?? [];
    if (ready.length === count && isConditionTrue(cluster.status?.conditions, 'WorkersReady')) return;
  }
}

/** Of the newest machine, until now. */
function processorSeconds(data: string): number {
  const folder = join(data, 'clusters/workers/records');
  const records = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { started: number; process: { pid: number } },
  );
  const { pid } = records.toSorted((a, b) => a.started - b.started).at(-1)!.process;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
