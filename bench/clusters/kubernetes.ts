import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controlPlanePrograms } from '../../test/cluster/binaries.ts';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { ms, percentile, row, timed } from '../tenancy/figures.ts';
import { ClusterBench } from './cluster-bench.ts';
import { proportionalBytes } from './proportional-memory.ts';

const ROUNDS = 3;
const MB = 1_000_000;
const pause = (forMs: number) => new Promise((resolve) => void setTimeout(resolve, forMs));

/** What the same costs with the real ones, in the same run: alone, and as control planes of tenants. */
export async function benchKubernetes(): Promise<void> {
  const started = performance.now();
  const plane = await startControlPlane();
  row('kube-apiserver + etcd: start -> ready', ms(performance.now() - started), 'for comparison');
  await pause(5000);
  const bytes = proportionalBytes(plane.pids.apiserver) + proportionalBytes(plane.pids.etcd);
  row('kube-apiserver + etcd: memory (PSS)', `${(bytes / MB).toFixed(0)} MB`, 'for comparison');
  await plane.stop();
  await benchProvider();
}

async function benchProvider(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-clusters-'));
  const programs = await controlPlanePrograms();
  const bench = await ClusterBench.start(data, ROUNDS + 1, programs);
  try {
    const [created, woken, asleep]: number[][] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      const name = `real-${round}`;
      created.push(await timed(() => bench.create(name)));
      if (round === 0) await memory(bench, name);
      asleep.push(await timed(() => bench.sleep(name)));
      woken.push(await timed(() => bench.wake(name)));
      await bench.remove(name);
    }
    row('kubernetes: create -> kubeconfig there and good for a request', ms(percentile(created, 0.5)), '5000 ms, aim 3500 ms');
    row('kubernetes: wake -> a request works', ms(percentile(woken, 0.5)), '4000 ms');
    row('kubernetes: sleep -> no process left', ms(percentile(asleep, 0.5)), '');
  } finally {
    await bench.stop();
    for (const folder of [data, programs]) rmSync(folder, { recursive: true, force: true });
  }
}

async function memory(bench: ClusterBench, name: string): Promise<void> {
  await pause(5000);
  const keeper = bench.processOf(name);
  const programs = readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'utf8').trim().split(' ').map(Number);
  const bytes = programs.reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  row('kubernetes: memory of its five programs (PSS)', `${(bytes / MB).toFixed(0)} MB`, '475-510 MB measured by hand');
  row('kubernetes: memory of what looks after them (PSS)', `${(proportionalBytes(keeper) / MB).toFixed(0)} MB`, '');
}
