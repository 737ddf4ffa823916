import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TenantCluster } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { KUBERNETES_VERSION } from '../cluster/binaries.ts';
import { openWorkbench, type Workbench } from '../cluster/kubectl.ts';
import { guestKernel, nodeTools } from '../cluster/node-tools.ts';
import { type } from '../e2e/command.ts';
import { credentialsIn, Reachability } from './reachability.ts';
import { EARLIER, severalPrograms } from './several-kubernetes.ts';

/** Nobody can start these: one that may follow, one that is too far. */
const BROKEN = '1.35.99';
const FAR = '1.36.0';
/** A machine of its own for each start takes its time where others work too. */
const LONG_MS = 600_000;
/** One control plane ends and another starts; alone on a machine that is some seconds. */
const AWAY_MS = 60_000;

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'team' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'tenantry.dev/hello' }] } },
  },
};

/** As root, with real programs of two versions and a real worker. One story: each test goes on where the one before it ended. */
describe(`a cluster that is upgraded from Kubernetes ${EARLIER.version} to ${KUBERNETES_VERSION}`, () => {
  let programs: string;
  let bench: Workbench;
  let text: string;
  let kubeconfig: string;
  const tenantry = (...words: string[]) =>
    type(process.execPath, ['bin/tenantry', ...words, '-n', 'acme', '--kubeconfig', join(bench.folder, 'data/kubeconfig')]);
  const upgrade = (to: string) => tenantry('cluster', 'upgrade', 'dev', '--to', to);
  const inside = async (line: string, stdin?: string) => {
    const { code, out, err } = await bench.kubectl(['--kubeconfig', kubeconfig, ...line.split(' ')], stdin);
    if (code !== 0) throw new Error(`kubectl ${line}: ${err}`);
    return out.trim();
  };
  const status = async () => (JSON.parse(await bench.works('get tcl dev -n acme -o json')) as TenantCluster).status!;
  const served = async () => (JSON.parse(await inside('get --raw /version')) as { gitVersion: string }).gitVersion;
  const podReady = () =>
    vi.waitUntil(async () => (await inside('get deployment web -n team -o jsonpath={.status.readyReplicas}')) === '1', {
      timeout: LONG_MS,
      interval: 500,
    });

  beforeAll(async () => {
    await nodeTools('qemu-system-x86_64', 'busybox', 'ip', 'nft', 'runc');
    await guestKernel();
    programs = await severalPrograms([BROKEN, FAR]);
    bench = await openWorkbench(['--node', 'none', '--cluster-network', 'linux', '--kubernetes-programs', programs]);
    expect(await tenantry('tenant', 'create', 'acme')).toMatchObject({ code: 0 });
    const versions = ['1.34', '1.35'].map((version) => ({ version, classification: 'supported' }));
    await bench.works(`patch clusterpolicy default --type merge -p '${JSON.stringify({ spec: { versions } })}'`);
    const made = await tenantry('cluster', 'create', 'dev', '--kubernetes', '1.34', '--pool', 'workers=1,machine=tcg');
    expect(made).toMatchObject({ code: 0, stderr: expect.anything() });
    text = (await tenantry('cluster', 'kubeconfig', 'dev')).stdout;
    kubeconfig = bench.file('dev.kubeconfig', text);
  });
  afterAll(async () => {
    if (bench) {
      await tenantry('cluster', 'delete', 'dev', '--confirm', 'dev');
      await bench.close();
    }
    if (programs) rmSync(programs, { recursive: true, force: true });
  });

  test('begins with the version that was asked for, and holds data and a Pod', { timeout: LONG_MS }, async () => {
    expect(await served()).toBe(`v${EARLIER.version}`);
    expect((await status()).version).toBe(EARLIER.version);
    await inside('create namespace team');
    await inside('create configmap kept -n team --from-literal=word=before');
    await inside('create secret generic sealed -n team --from-literal=word=secret');
    await inside('apply -f -', JSON.stringify(DEPLOYMENT));
    await podReady();
  });

  test.each([
    [FAR, `it has version ${EARLIER.version}, and is upgraded one minor version at a time: ${FAR} cannot follow it; ask for the next one`],
    ['1.33', 'no control plane here serves version 1.33'],
  ])('is not taken to %s', async (to, why) => {
    const { code, stderr } = await upgrade(to);
    expect(stderr).toContain(why);
    expect(code).toBe(1);
    expect((await status()).upgrade).toBeUndefined();
  });

  test('goes on with its version when another one does not come up, and says so', { timeout: LONG_MS }, async () => {
    const { code, stderr } = await upgrade(BROKEN);
    expect(stderr).toContain(`Cannot upgrade cluster "dev": Kubernetes ${BROKEN} did not come up`);
    expect(stderr).toContain(`it goes on with ${EARLIER.version}`);
    expect(code).toBe(1);
    expect(await served()).toBe(`v${EARLIER.version}`);
    expect(await inside('get configmap kept -n team -o jsonpath={.data.word}')).toBe('before');
    const { conditions, version } = await status();
    expect(version).toBe(EARLIER.version);
    expect(findCondition(conditions, 'Upgraded')).toMatchObject({ status: 'False', reason: 'UpgradeFailed' });
    await podReady();
  });

  test('is upgraded: its API is away for a moment, its data stays, its worker is drained and replaced', { timeout: LONG_MS }, async () => {
    const [before] = (await status()).workers!;
    const reachability = new Reachability(credentialsIn(text));
    const { code, stdout, stderr } = await upgrade(KUBERNETES_VERSION);
    const { allMs, downMs } = await reachability.stop();
    console.error(`upgraded in ${Math.round(allMs)} ms; the API did not answer for ${Math.round(downMs)} ms of it`);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(`cluster dev has Kubernetes ${KUBERNETES_VERSION}`);
    expect(downMs).toBeLessThan(AWAY_MS);
    expect(await served()).toBe(`v${KUBERNETES_VERSION}`);
    expect(await inside('get configmap kept -n team -o jsonpath={.data.word}')).toBe('before');
    expect(await inside('get secret sealed -n team -o jsonpath={.data.word}')).toBe(Buffer.from('secret').toString('base64'));
    const { workers, conditions, version } = await status();
    expect(version).toBe(KUBERNETES_VERSION);
    expect(findCondition(conditions, 'Upgraded')).toMatchObject({ status: 'True' });
    expect(workers).toHaveLength(1);
    expect(workers![0]).toMatchObject({ phase: 'Ready', version: KUBERNETES_VERSION });
    expect(workers![0].name).not.toBe(before.name);
    expect(await inside('get nodes -o jsonpath={.items[*].metadata.name}')).toBe(workers![0].name);
    // What ran on the one before runs on the one after.
    await podReady();
    expect(await inside('get pods -n team -o jsonpath={.items[*].spec.nodeName}')).toContain(workers![0].name);
  });

  test.each([
    ['1.34', `it has version ${KUBERNETES_VERSION}, and is not taken back to an earlier version`],
    [FAR, `ClusterPolicy "default" does not allow version ${FAR}`],
  ])('is not taken to %s from there', async (to, why) => {
    const { code, stderr } = await upgrade(to);
    expect(stderr).toContain(why);
    expect(code).toBe(1);
    expect(await served()).toBe(`v${KUBERNETES_VERSION}`);
  });
});
