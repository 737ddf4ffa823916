// What tenants' control planes cost: `npm run bench -- clusters [how many at rest | flood | kubernetes]`, beside a real kube-apiserver with etcd; their networks and workers: `npm run bench -- clusters vpcs`, `npm run bench -- clusters workers`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calibrate } from '../api/calibration.ts';
import { ms, percentile, processorMs, row, timed } from '../tenancy/figures.ts';
import { benchFlood } from './flood.ts';
import { proportionalBytes } from './proportional-memory.ts';
import { ClusterBench } from './cluster-bench.ts';
import { benchKubernetes } from './kubernetes.ts';
import { benchVpcs } from './vpcs.ts';
import { benchWorkers } from './workers.ts';

if (process.argv[2] === 'workers') {
  await benchWorkers();
  process.exit(0);
}
if (process.argv[2] === 'vpcs') {
  await benchVpcs();
  process.exit(0);
}
if (process.argv[2] === 'kubernetes') {
  await benchKubernetes();
  process.exit(0);
}
const onlyFlood = process.argv[2] === 'flood';
const AT_REST = onlyFlood ? 0 : Number(process.argv[2] ?? 50);
const REST_MS = 20_000;
const MB = 1_000_000;
const pause = (forMs: number) => new Promise((resolve) => void setTimeout(resolve, forMs));

console.log(calibrate());
const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-clusters-'));
const bench = await ClusterBench.start(data, AT_REST + 10);
try {
  if (!onlyFlood) {
    await benchOne();
    await benchMany();
  }
  await benchFlood(bench);
} finally {
  await bench.stop();
  rmSync(data, { recursive: true, force: true });
}
if (!onlyFlood) await benchKubernetes();
console.log(calibrate());
process.exit(0);

async function benchOne(): Promise<void> {
  const created: number[] = [];
  const kubectl: number[] = [];
  const woken: number[] = [];
  for (let round = 0; round < 5; round++) {
    const name = `one-${round}`;
    const started = performance.now();
    const cluster = await bench.create(name);
    created.push(performance.now() - started);
    await bench.kubectl(cluster, ['get', 'namespaces']);
    kubectl.push(performance.now() - started);
    if (round > 0) {
      await bench.sleep(name);
      woken.push(await timed(() => bench.wake(name)));
    }
    if (round < 4) await bench.remove(name);
  }
  row('create -> kubeconfig there and good for a request', ms(percentile(created, 0.5)), '1000 ms, aim 400 ms');
  row('create -> `kubectl get namespaces` has printed', ms(percentile(kubectl, 0.5)), '1000 ms, aim 400 ms');
  row('the slowest of five', ms(Math.max(...kubectl)), '');
  row('wake -> a request works', ms(percentile(woken, 0.5)), '1000 ms');
  await pause(5000);
  row('memory of its process (PSS)', `${(proportionalBytes(bench.processOf('one-4')) / MB).toFixed(0)} MB`, '80 MB, aim 60 MB');
  await bench.remove('one-4');
}

async function benchMany(): Promise<void> {
  const names = Array.from({ length: AT_REST }, (_, index) => `many-${index}`);
  const took = await timed(() => bench.createAll(names));
  row(`${AT_REST} clusters made, eight at a time`, ms(took), '');
  // Each collects its garbage once within half a minute of its start.
  await pause(40_000);
  const pids = names.map((name) => bench.processOf(name));
  const before = pids.map(processorMs);
  await pause(REST_MS);
  const used = pids.reduce((sum, pid, index) => sum + processorMs(pid) - before[index], 0);
  const bytes = pids.reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  row(`${AT_REST} at rest: memory (PSS)`, `${(bytes / MB).toFixed(0)} MB`, '4000 MB, aim 3000 MB (50)');
  row(`${AT_REST} at rest: processor`, `${((used / REST_MS) * 100).toFixed(1)} % of a core`, '10 % (50)');
  row('the process that looks after them (PSS)', `${(proportionalBytes(bench.enginePid) / MB).toFixed(0)} MB`, '');
  const ended = await timed(() => Promise.all(names.map((name) => bench.remove(name))));
  row(`${AT_REST} clusters deleted`, ms(ended), '');
}
