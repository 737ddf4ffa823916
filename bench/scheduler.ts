// How many Pods per second get a node: the decision alone, and end to end through the API on the memory store, beside Pods that cannot run.
import { Namespace, Node, Pod } from '../src/client/kinds.ts';
import { decide } from '../src/engine/scheduler/model/decide.ts';
import { startScheduler } from '../src/engine/scheduler/start-scheduler.ts';
import { aCluster, aNode, aPod } from '../src/engine/scheduler/testing/builders.ts';
import { realClock } from '../src/lib/clock.ts';
import { silentLog } from '../src/lib/log.ts';
import { startInMemoryEngine } from '../test/integration/controllers/engine-in-memory.ts';

const PODS = Number(process.argv[2] ?? 10_000);
const NODES = Number(process.argv[3] ?? 100);

function decisions(): void {
  const cluster = aCluster(Array.from({ length: NODES }, (_, i) => aNode(`n${i}`).with({ cpu: '64', memory: '256Gi', pods: '1000' })));
  let slowest = 0;
  const started = performance.now();
  for (let i = 0; i < PODS; i++) {
    const began = performance.now();
    const info = aPod(`p${i}`).requesting({ cpu: '100m', memory: '128Mi' }).info();
    const { node } = decide(info, cluster, i % NODES, Math.random);
    if (!node) throw new Error('Cannot place a Pod: the nodes are too small; make them larger');
    node.add(info);
    slowest = Math.max(slowest, performance.now() - began);
  }
  const seconds = (performance.now() - started) / 1000;
  console.log(`decisions: ${(PODS / seconds).toFixed(0)} Pods/s (${NODES} nodes), slowest ${slowest.toFixed(2)} ms`);
}

/** Milliseconds of the longest turn that held the event loop, while `work` runs. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  running = false;
  return longest;
}

async function endToEnd(): Promise<void> {
  const engine = await startInMemoryEngine();
  const { client } = engine;
  await client.resource(Namespace).create({ metadata: { name: 'bench' } });
  const nodes = client.resource(Node);
  for (let i = 0; i < NODES; i++) {
    const { metadata, status } = aNode(`n${i}`).with({ cpu: '64', memory: '256Gi', pods: '1000' }).object();
    await nodes.create({ metadata, status });
  }
  // New nodes are tainted until their lifecycle is looked after.
  const isTainted = async (): Promise<boolean> => (await nodes.listAll()).items.some(({ spec }) => spec?.taints);
  while (await isTainted()) await new Promise((resolve) => void setTimeout(resolve, 20));
  const pods = client.resource(Pod, 'bench');
  const create = async (prefix: string, cpu: string): Promise<void> => {
    for (let i = 0; i < PODS; i += 50) {
      const batch = Array.from({ length: Math.min(50, PODS - i) }, (_, j) =>
        aPod(`${prefix}${i + j}`).requesting({ cpu, memory: '128Mi' }),
      );
      await Promise.all(batch.map((pod) => pods.create({ metadata: { name: pod.object().metadata.name }, spec: pod.object().spec })));
    }
  };
  // None of these will ever run; they must cost nothing.
  const beforehand = await longestTurn(async () => {
    await create('never-', '1000');
    await create('web-', '100m');
  });
  let placed = 0;
  const stop = new AbortController();
  const all = (async () => {
    for await (const update of pods.watch({ fieldSelector: 'spec.nodeName!=', sendInitialEvents: true, signal: stop.signal })) {
      if (update.type === 'ADDED' && ++placed === PODS) return;
    }
  })();
  const started = performance.now();
  const scheduler = startScheduler({ client, clock: realClock, log: silentLog });
  const longest = await longestTurn(() => all);
  const seconds = (performance.now() - started) / 1000;
  console.log(`end to end: ${(PODS / seconds).toFixed(0)} Pods/s beside ${PODS} that cannot run`);
  console.log(`longest turn: ${longest.toFixed(1)} ms, ${beforehand.toFixed(1)} ms while the Pods were created without a scheduler`);
  stop.abort();
  await scheduler.stop();
  await engine.stop();
}

decisions();
await endToEnd();
