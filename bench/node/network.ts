import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Namespace, NetworkPolicy, Pod } from '../../src/client/kinds.ts';
import { runCommand, runIpBatch } from '../../src/engine/node/network/kernel/commands.ts';
import { namespacePath } from '../../src/engine/node/network/kernel/namespaces.ts';
import { connectTcp, listenTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { createNamespacedNetwork } from '../../src/engine/node/network/namespaced-network.ts';
import { instanceId } from '../../src/engine/node/network/network-plan.ts';
import type { PodNetwork } from '../../src/engine/node/network/pod-network.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { realClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { startInMemoryEngine, type InMemoryEngine } from '../../test/integration/controllers/engine-in-memory.ts';

const POLICIES = 500;
const PODS = 200;
const NAMESPACES = 20;
const CHANGES = 20;

interface Bench {
  engine: InMemoryEngine;
  network: PodNetwork;
  router: string;
  pods: { object: KubeObject; address: string; place: string }[];
}

/** The network's bars: attaching Pods, 500 policies at once, and how long a changed rule takes to hold. Needs root, `ip` and `nft`. */
export async function benchNetwork(): Promise<void> {
  const machine = `ttm-${randomBytes(4).toString('hex')}`;
  const dir = mkdtempSync(join(tmpdir(), 'tenantry-bench-'));
  await runIpBatch([`netns add ${machine}`], undefined);
  await runIpBatch(['link set lo up'], namespacePath(machine));
  const engine = await startInMemoryEngine();
  const network = createNamespacedNetwork({
    client: engine.client,
    clock: realClock,
    log: createLog({ level: 'warn' }),
    dir,
    serviceCidr: '10.0.0.0/24',
    apiServer: { address: '127.0.0.1', port: 1 },
    machineNamespace: machine,
  });
  try {
    await network.start();
    const bench: Bench = { engine, network, router: namespacePath(`tenantry-${instanceId(dir)}`), pods: [] };
    await attachPods(bench);
    await applyPolicies(bench);
    await changeRules(bench);
    await atRest();
  } finally {
    await network.destroy();
    await engine.stop();
    await runIpBatch([`netns delete ${machine}`], undefined);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function attachPods(bench: Bench): Promise<void> {
  const { engine, network } = bench;
  for (let i = 0; i < NAMESPACES; i++) {
    await engine.client.resource(Namespace).create({ metadata: { name: `ns-${i}`, labels: { group: `g${i % 4}` } } });
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  const times: number[] = [];
  for (let i = 0; i < PODS; i++) {
    const namespace = `ns-${i % NAMESPACES}`;
    const object = await engine.client.resource(Pod, namespace).create({
      metadata: { name: `p${i}`, namespace, labels: { app: `a${i % 10}`, number: String(i) } },
      spec: { nodeName: 'node', containers: [{ name: 'main', image: 'tenantry.dev/hello' }] },
    });
    const began = performance.now();
    const { addresses, namespacePath: place } = await network.attach(object);
    times.push(performance.now() - began);
    bench.pods.push({ object, address: addresses[0], place: place! });
  }
  console.log(`attach of one Pod, ${PODS} Pods in all: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms (bar 15 ms)`);
}

/** From the first create to the moment at which all of them hold in the kernel. */
async function applyPolicies({ engine, router }: Bench): Promise<void> {
  const began = performance.now();
  const turns = longestTurn();
  await Promise.all(
    Array.from({ length: POLICIES }, (_, i) =>
      engine.client.resource(NetworkPolicy, `ns-${i % NAMESPACES}`).create({
        metadata: { name: `policy-${i}` },
        spec: {
          podSelector: { matchLabels: { app: `a${i % 10}` } },
          policyTypes: ['Ingress', 'Egress'],
          ingress: [
            { from: [{ podSelector: { matchLabels: { app: `a${(i * 7) % 10}` } } }], ports: [{ port: 8000 + i }, { port: 443 }] },
            { from: [{ namespaceSelector: { matchLabels: { group: `g${(i + 1) % 4}` } }, podSelector: {} }] },
          ],
          egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: [`10.${i % 200}.0.0/16`] } }] }],
        },
      }),
    ),
  );
  const created = performance.now();
  // Each policy has a port of its own, which stands in a rule when it holds.
  for (;;) {
    const rules = await runCommand('nft', ['list', 'table', 'ip', 'tenantry'], { namespace: router });
    if (new Set([...rules.matchAll(/proto-src (8\d{3}) return/g)].map(([, port]) => port)).size === POLICIES) break;
  }
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `${POLICIES} policies on ${PODS} Pods: ${seconds.toFixed(2)} s from the first create (${((created - began) / 1000).toFixed(2)} s of it the API), longest turn ${turns().toFixed(1)} ms (bar 1 s)`,
  );
}

/** Two Pods of a namespace; one rule opens and closes the way between them. */
async function changeRules({ engine, pods }: Bench): Promise<void> {
  const [client, server] = [pods[0], pods[NAMESPACES]];
  const listener = await listenTcp(server.place, { address: '0.0.0.0', port: 7000 }, (socket) => {
    socket.on('error', () => {});
    socket.end('x');
  });
  const policies = engine.client.resource(NetworkPolicy, 'ns-0');
  const reaches = async (): Promise<boolean> => {
    try {
      const socket = await connectTcp(client.place, { address: server.address, port: 7000 }, { timeoutMs: 40 });
      socket.on('error', () => {});
      socket.destroy();
      return true;
    } catch {
      return false;
    }
  };
  const way = (name: string, kind: 'ingress' | 'egress', number: string) => ({
    metadata: { name },
    spec: {
      podSelector: { matchLabels: { number } },
      policyTypes: [kind === 'ingress' ? 'Ingress' : 'Egress'],
      [kind]: [{ ports: [{ port: 7000 }] }],
    },
  });
  await policies.create(way('out', 'egress', client.object.metadata.labels!['number']));
  const opened: number[] = [];
  const closed: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    for (const [times, wanted] of [
      [opened, true],
      [closed, false],
    ] as const) {
      const began = performance.now();
      if (wanted) await policies.create(way('in', 'ingress', server.object.metadata.labels!['number']));
      else await policies.delete('in');
      // Refusal shows as silence: what counts is when the first packet of it was sent.
      let asked = performance.now();
      while ((await reaches()) !== wanted) asked = performance.now();
      times.push((wanted ? performance.now() : asked) - began);
    }
  }
  listener.close();
  for (const [what, times] of [
    ['opens', opened],
    ['closes', closed],
  ] as const) {
    console.log(
      `a rule ${what} after p50 ${quantile(times, 0.5)} ms, worst ${quantile(times, 1)} ms, beside ${POLICIES} policies (bar 100 ms)`,
    );
  }
}

async function atRest(): Promise<void> {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  const { user, system } = process.cpuUsage(before);
  console.log(`at rest: ${((user + system) / 100_000).toFixed(2)} % of one core, the API server included`);
}

/** @returns the way to read the longest turn that held the event loop since the call. */
function longestTurn(): () => number {
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
  return () => {
    running = false;
    return longest;
  };
}

function quantile(values: readonly number[], q: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))].toFixed(1);
}
