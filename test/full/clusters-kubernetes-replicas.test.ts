import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ControlPlanes, RunningControlPlane, WantedControlPlane } from '../../src/areas/clusters/control-plane/control-planes.ts';
import { findPrograms } from '../../src/areas/clusters/control-plane/kubernetes/find-programs.ts';
import { openKubernetesPlanes } from '../../src/areas/clusters/control-plane/kubernetes/kubernetes-control-planes.ts';
import type { ClusterRecord } from '../../src/areas/clusters/control-plane/process/cluster-folder.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { connectTarget, type ApiTarget } from '../support/api-target.ts';
import { controlPlanePrograms, KUBERNETES_VERSION } from '../cluster/binaries.ts';

const PATIENCE = { timeout: 120_000, interval: 200 };

/** One control plane that grows, loses processes, and comes back from a backup. The tests are one story. */
describe('a control plane of Kubernetes with three replicas', { timeout: 300_000 }, () => {
  let programs: string;
  let root: string;
  let planes: ControlPlanes;
  let running: RunningControlPlane;
  let target: ApiTarget;
  const alone: WantedControlPlane = {
    id: randomUUID(),
    namespace: 'acme',
    name: 'dev',
    version: KUBERNETES_VERSION,
    names: [],
    accessRevision: 0,
  };
  const three = { ...alone, replicas: 3 };

  const supervisor = () => (JSON.parse(readFileSync(join(root, 'records', `${alone.id}.json`), 'utf8')) as ClusterRecord).process!.pid;
  const processes = (name: string): number[] => {
    const pid = supervisor();
    const all = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    return all.filter((child) => readFileSync(`/proc/${child}/comm`, 'utf8').startsWith(name));
  };
  const run = async (wanted: WantedControlPlane) => {
    running = await planes.run(wanted);
    await target?.close();
    const { endpoint: url, authorityPem: ca, platform } = running;
    const certificate = { cert: platform.certificatePem, key: platform.keyPem };
    target = connectTarget({ name: 'dev', url, kubeconfig: '', ca, certificate, close: () => Promise.resolve() });
  };
  const allReady = (wanted: WantedControlPlane) => vi.waitUntil(async () => (await planes.run(wanted)).replicas.ready === 3, PATIENCE);
  const path = '/api/v1/namespaces/default/configmaps';
  const write = async (name: string) =>
    (await target.request('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })).status;
  const has = async (name: string) => (await target.request('GET', `${path}/${name}`)).status === 200;
  /** As clients do: again when the connection was cut, or a new leader of the store is being chosen. */
  const persistently = (work: () => Promise<boolean>) => vi.waitUntil(() => work().catch(() => false), { timeout: 20_000, interval: 50 });

  beforeAll(async () => {
    if (process.getuid?.() !== 0)
      throw new Error('Cannot test control planes with networks of their own: this is not root; run it as root');
    programs = await controlPlanePrograms();
    const { sets } = await findPrograms(programs, process.env['PATH']!);
    root = mkdtempSync(join(tmpdir(), 'tenantry-replicas-'));
    const program = resolve('dist/kubernetes-control-plane.js');
    const common = { root, program, productVersion: 'x', address: '127.0.0.1', sets, clock: realClock, log: silentLog };
    planes = await openKubernetesPlanes(common);
  });
  afterAll(async () => {
    await target?.close();
    await planes?.remove(alone.id);
    await planes?.close();
    for (const folder of [root, programs].filter(Boolean)) rmSync(folder, { recursive: true, force: true });
  });

  it('one becomes three with its objects, revisions and endpoint', async () => {
    await run(alone);
    expect(running.replicas).toEqual({ wanted: 1, ready: 1 });
    await write('before');
    const { body } = await target.request('GET', path);
    const { body: before } = await target.request('GET', `${path}/before`);
    const { endpoint } = running;
    await run(three);
    expect(running.endpoint).toBe(endpoint);
    expect(await has('before')).toBe(true);
    await allReady(three);
    expect((await target.request('GET', `${path}/before`)).body.metadata).toEqual(before.metadata);
    expect(await write('after')).toBe(201);
    const { body: now } = await target.request('GET', path);
    expect(Number(now.metadata.resourceVersion)).toBeGreaterThan(Number(body.metadata.resourceVersion));
    const names = ['etcd', 'kube-apiserver', 'kube-controller', 'kube-scheduler', 'proxy-server'];
    expect(names.map((name) => processes(name).length)).toEqual([3, 3, 3, 3, 1]);
  });

  it('kill -9 of an API server, and of a member of the store, is repaired while requests go on', async () => {
    let written = 0;
    for (const name of ['kube-apiserver', 'etcd']) {
      const [victim] = processes(name);
      process.kill(victim, 'SIGKILL');
      for (let request = 0; request < 20; request++) {
        const each = `during-${written++}`;
        await persistently(async () => [201, 409].includes(await write(each)));
        await persistently(() => has('before'));
      }
      await vi.waitUntil(() => processes(name).length === 3 && !processes(name).includes(victim), PATIENCE);
      await allReady(three);
    }
    expect((await planes.run(three)).trouble).toBeUndefined();
  });

  it('sleeps, wakes, and comes back from a backup as three', async () => {
    await planes.backup(alone.id, 'monday');
    expect(await write('too-late')).toBe(201);
    await planes.sleep(alone.id);
    await run(three);
    expect(await has('too-late')).toBe(true);
    await planes.restore(three, { id: alone.id, backup: 'monday' }, 'first');
    await run(three);
    expect([await has('during-0'), await has('too-late')]).toEqual([true, false]);
    expect(processes('etcd').length).toBe(3);
  });

  it('becomes one again; a store that has reached its limit is read and deleted from, and takes writes again when there is room', async () => {
    const small = { ...alone, limits: { storeBytes: 16 * 1024 ** 2 } };
    await planes.sleep(alone.id);
    await run(small);
    expect([await has('during-0'), processes('etcd').length]).toEqual([true, 1]);
    const fill = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'x'.repeat(900_000) } });
    let tries = 0;
    const isFull = async () => /space exceeded/.test(JSON.stringify((await target.request('POST', path, fill(`large-${tries++}`))).body));
    // What it can make room for by itself is not told.
    await vi.waitUntil(async () => {
      while (!(await isFull()));
      return (await planes.run(small)).trouble?.reason === 'StoreFull';
    }, PATIENCE);
    expect(await has('before')).toBe(true);
    for (let index = 0; index < tries; index++) await target.request('DELETE', `${path}/large-${index}`);
    await vi.waitUntil(async () => (await planes.run(small)).trouble === undefined, PATIENCE);
    expect(await write('room-again')).toBe(201);
  });
});
