import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TenantKind } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../src/client/client.ts';
import { ConfigMap, Namespace, Pod, RoleBinding } from '../../src/client/kinds.ts';
import { isConditionTrue } from '../../src/kube/conditions.ts';
import type { Kind } from '../../src/kube/kind.ts';
import { startEngineProcess, type EngineProcess } from './engine-process.ts';
import { ms, percentile, processorMs, row, settled, timed } from './figures.ts';
import { changeBinding, growTrees, reaches, ROOT, treeIsComplete, versions } from './tree.ts';

const NAMESPACES = Number(process.env['BENCH_NAMESPACES'] ?? 5000);
const DESCENDANTS = Math.min(1000, NAMESPACES - 1);
const CREATES = 200;
const TENANTS = 20;

export async function benchEmbedded(options: readonly string[]): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-tenancy-'));
  let engine = await startEngineProcess(data, options);
  try {
    await tenants(engine.client);
    await propagation(engine);
    await settled(engine.pid);
    await admission(engine.client);
    row('memory of the engine', `${residentMegabytes(engine.pid).toFixed(0)} MB`, 'none');
    const before = await versions(engine.client);
    await engine.stop();
    const started = performance.now();
    engine = await startEngineProcess(data, options);
    const ready = performance.now() - started;
    await reaches(engine.client, DESCENDANTS, 'after-restart', () => changeBinding(engine.client, 'after-restart'));
    const synced = performance.now() - started;
    row(`restart with ${NAMESPACES} namespaces: ready, a change everywhere`, `${ms(ready)}, ${ms(synced)}`, '<= 5000 ms');
    await unchangedBy(engine.client, before);
  } finally {
    await engine.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function propagation({ client, pid }: EngineProcess): Promise<void> {
  const grown = await timed(() => growTrees(client, DESCENDANTS, NAMESPACES));
  const complete = await timed(() => treeIsComplete(client, DESCENDANTS));
  row(`${NAMESPACES} namespaces: created, then in their trees`, `${ms(grown)}, ${ms(complete)}`, 'none');
  await settled(pid);
  const before = processorMs(pid);
  const first = await reaches(client, DESCENDANTS, 'first', () => changeBinding(client, 'first'));
  row(`a RoleBinding made at the root reaches ${DESCENDANTS} descendants`, ms(first), '<= 1500 ms');
  const changes: number[] = [];
  for (let i = 0; i < 5; i++) changes.push(await reaches(client, DESCENDANTS, `u${i}`, () => changeBinding(client, `u${i}`)));
  row(`a RoleBinding changed there, worst of 5`, ms(Math.max(...changes)), '<= 1500 ms');
  row('processor time of the engine for one such change', ms((processorMs(pid) - before) / 6), 'none');
}

/** The same create in a namespace that no rule looks at, and in one of a tree: turn by turn, so that both see the same machine. */
async function admission(client: Client): Promise<void> {
  await client
    .resource(TenantKind)
    .create({ metadata: { name: 'admitted' }, spec: { quota: { hard: { pods: '1000000', 'count/configmaps': '1000000' } } } });
  await tenantReady(client, 'admitted');
  const container = { name: 'c', image: 'example/none', resources: { requests: { cpu: '1m' }, limits: { cpu: '1m', memory: '1Mi' } } };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const kinds: [Kind, object][] = [
    [ConfigMap, { data: { a: '1' } }],
    [RoleBinding, { roleRef }],
    [Pod, { spec: { schedulerName: 'nobody', containers: [container] } }],
  ];
  for (const [kind, content] of kinds) {
    const took: Record<string, number[]> = { default: [], admitted: [] };
    for (let i = 0; i < CREATES; i++) {
      for (const namespace of ['default', 'admitted']) {
        const object = { metadata: { name: `bench-${i}` }, ...content };
        took[namespace].push(await timed(() => client.resource(kind, namespace).create(object)));
      }
    }
    const [outside, inside] = [percentile(took['default'], 0.5), percentile(took['admitted'], 0.5)];
    row(`admission of a ${kind.kind} in a tenant: added to a create, p50`, `${ms(inside - outside)} (${ms(outside)})`, '<= 2 ms');
  }
}

async function tenants(client: Client): Promise<void> {
  const took: number[] = [];
  for (let i = 0; i < TENANTS; i++) {
    const name = `tenant-${String.fromCodePoint(97 + i)}`;
    const spec = {
      owners: [{ kind: 'User' as const, name: 'alice' }],
      quota: { hard: { 'requests.cpu': '10', pods: '100' } },
      limits: { default: { cpu: '1', memory: '1Gi' } },
    };
    took.push(
      await timed(async () => {
        await client.resource(TenantKind).create({ metadata: { name }, spec });
        await tenantReady(client, name);
      }),
    );
  }
  const [first, ...later] = took;
  row(`a tenant with namespaces, quota, RBAC and policies: p50`, `${ms(percentile(later, 0.5))} (first ${ms(first)})`, '<= 150 ms');
}

async function tenantReady(client: Client, name: string): Promise<void> {
  const stop = new AbortController();
  for await (const update of client
    .resource(TenantKind)
    .watch({ fieldSelector: `metadata.name=${name}`, sendInitialEvents: true, signal: stop.signal })) {
    if ('object' in update && isConditionTrue(update.object.status?.conditions, 'Ready')) break;
  }
  stop.abort();
}

/** Everything but the binding that was changed to see that the engine is awake. */
async function unchangedBy(client: Client, before: string): Promise<void> {
  const after = await versions(client);
  const known = new Set(before.split('\n'));
  const written = after.split('\n').filter((line) => !known.has(line) && !line.startsWith(`${ROOT}-`));
  const namespaces = (await client.resource(Namespace).list({ limit: 1 })).metadata.remainingItemCount;
  row('copies in other trees written by the restart', String(written.length), `0 (${namespaces ?? 0} namespaces)`);
}

function residentMegabytes(pid: number): number {
  const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(pages ?? 0) / 1024;
}
