import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TenantCluster } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { spawnEngine } from '../support/spawned-engine.ts';
import { type } from '../e2e/command.ts';
import { openWorkbench, type Workbench } from './kubectl.ts';
import { guestKernel, nodeTools } from './node-tools.ts';

const UP = ['--node', 'none', '--cluster-network', 'linux'];
const until = <T>(met: () => Promise<T>) => vi.waitUntil(met, { timeout: 240_000, interval: 500 });
const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'kept' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
};
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'tenantry.dev/hello',
        env: [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'word', key: 'is' } } }],
        volumeMounts: [{ name: 'kept', mountPath: '/kept' }],
      },
    ],
    volumes: [{ name: 'kept', persistentVolumeClaim: { claimName: 'kept' } }],
  },
};

/** As root, with real guests. One story: each test goes on where the one before it ended. */
describe('a worker with a kernel of its own', () => {
  let bench: Workbench;
  let data: string;
  let kubeconfig: string;
  const tenantry = (...words: string[]) => type(process.execPath, ['bin/tenantry', ...words, '--kubeconfig', join(data, 'kubeconfig')]);
  const inside = (line: string, stdin?: string) => bench.kubectl(['--kubeconfig', kubeconfig, ...line.split(' ')], stdin);
  const works = async (line: string, stdin?: string) => {
    const { code, out, err } = await inside(line, stdin);
    if (code !== 0) throw new Error(`kubectl ${line}: ${err}`);
    return out.trim();
  };
  const workers = async () => {
    const { status } = JSON.parse(await bench.works('get tcl dev -n acme -o json')) as TenantCluster;
    return status?.workers ?? [];
  };
  /** Each runs in the folder that is its own. */
  const guests = () =>
    readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .filter((pid) => {
        try {
          return readlinkSync(`/proc/${pid}/cwd`).startsWith(join(data, 'clusters/workers/machines'));
        } catch {
          return false;
        }
      })
      .map(Number);

  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('Cannot test workers: this is not root; run it as root');
    await nodeTools('qemu-system-x86_64', 'bwrap', 'busybox', 'ip', 'nft', 'runc');
    await guestKernel();
    bench = await openWorkbench(UP);
    data = join(bench.folder, 'data');
    expect(await tenantry('tenant', 'create', 'acme')).toMatchObject({ code: 0 });
  }, 600_000);
  afterAll(async () => {
    await tenantry('cluster', 'delete', 'dev', '-n', 'acme', '--confirm', 'dev');
    await bench.engine.stop();
    rmSync(bench.folder, { recursive: true, force: true });
  }, 120_000);

  it('is there with one command, and ready', async () => {
    const made = await tenantry('cluster', 'create', 'dev', '-n', 'acme', '--control-plane', 'embedded', '--pool', 'workers=1,machine=tcg');
    expect(made).toMatchObject({ code: 0 });
    kubeconfig = bench.file('dev.kubeconfig', (await tenantry('cluster', 'kubeconfig', 'dev', '-n', 'acme')).stdout);
    const [worker] = await workers();
    expect(worker).toMatchObject({ pool: 'workers', phase: 'Ready', provider: 'tcg', isolation: 'Kernel' });
    expect(await works('get nodes -o jsonpath={.items[*].metadata.name}')).toBe(worker.name);
    expect(await works('get secrets -n kube-system -o name')).toBe('');
    const enforced = 'get nodes -o jsonpath={.items[0].status.conditions[?(@.type=="NetworkPolicyEnforced")].status}';
    expect(await works(enforced)).toBe('True');
    expect((await tenantry('cluster', 'get', 'dev', '-n', 'acme')).stdout).toMatch(new RegExp(`${worker.name} +workers +Ready`));
  }, 400_000);

  it('runs Pods whose logs and commands come through its tunnel, on another kernel', async () => {
    await works('create secret generic word --from-literal=is=tunnel');
    await works('apply -f -', JSON.stringify(CLAIM));
    await works('apply -f -', JSON.stringify(POD));
    await works('wait --for=condition=Ready pod/web --timeout=200s');
    await until(async () => (await works('logs web')).includes('listening'));
    const said = await works('exec web -- sh -c uname${IFS}-r;cat${IFS}/proc/sys/kernel/random/boot_id;echo${IFS}$WORD');
    const [kernel, boot, word] = said.split('\n');
    expect(kernel).not.toBe(release());
    expect(boot).not.toBe(bootId());
    expect(word).toBe('tunnel');
    // Its claim names no class: the default one is of workers' own disks.
    expect(await works('get pvc kept -o jsonpath={.status.phase},{.spec.storageClassName}')).toBe('Bound,local');
    expect(await works('exec web -- sh -c echo${IFS}kept>/kept/file;cat${IFS}/kept/file')).toBe('kept');
  }, 400_000);

  it('may only what concerns itself', async () => {
    const [{ name }] = await workers();
    const as = `--as=system:node:${name} --as-group=system:nodes`;
    expect((await inside(`auth can-i list secrets -A ${as}`)).code).toBe(1);
    expect((await inside(`get secret word ${as} -o name`)).out.trim()).toBe('secret/word');
    await works('create secret generic other --from-literal=a=b');
    expect((await inside(`get secret other ${as}`)).err).toContain(`no relationship found between node '${name}' and this object`);
    expect((await inside(`label node ${name} node-role.kubernetes.io/x=y ${as}`)).err).toContain('is not allowed to modify labels');
  }, 120_000);

  it('is started again when its machine is killed, also while nobody looks', async () => {
    const before = await works('get nodes -o jsonpath={.items[0].status.nodeInfo.bootID}');
    await bench.engine.kill();
    for (const pid of guests()) process.kill(pid, 'SIGKILL');
    bench.engine = await spawnEngine(data, { args: UP });
    await until(async () => (await works('get nodes -o jsonpath={.items[0].status.nodeInfo.bootID}')) !== before);
    await until(async () => (await works('get pod web -o jsonpath={.status.containerStatuses[0].ready}')) === 'true');
    expect(await works('exec web -- echo back')).toBe('back');
  }, 400_000);

  it('joins again as who it was, when the authorities of its cluster are revoked', async () => {
    const [{ name }] = await workers();
    const before = await works('get nodes -o jsonpath={.items[0].status.nodeInfo.bootID}');
    const stolen = kubeconfig;
    expect(await tenantry('cluster', 'rotate', 'dev', '-n', 'acme', '--authorities', '--revoke')).toMatchObject({ code: 0 });
    expect((await bench.kubectl(['--kubeconfig', stolen, 'get', 'nodes'])).err).toContain('certificate signed by unknown authority');
    kubeconfig = bench.file('dev-2.kubeconfig', (await tenantry('cluster', 'kubeconfig', 'dev', '-n', 'acme')).stdout);
    expect((await workers()).map((worker) => [worker.name, worker.phase])).toEqual([[name, 'Ready']]);
    expect(await works('get nodes -o jsonpath={.items[*].metadata.name}')).toBe(name);
    expect(await works('get nodes -o jsonpath={.items[0].status.nodeInfo.bootID}')).not.toBe(before);
    await until(async () => (await works('get pod web -o jsonpath={.status.containerStatuses[0].ready}')) === 'true');
    expect(await works('exec web -- echo back')).toBe('back');
  }, 400_000);

  it('goes when its pool is scaled down, and leaves nothing', async () => {
    expect(await tenantry('cluster', 'scale', 'dev', 'workers=0', '-n', 'acme')).toMatchObject({ code: 0 });
    expect(await workers()).toEqual([]);
    expect(await works('get nodes -o name')).toBe('');
    expect(guests()).toEqual([]);
  }, 300_000);

  it('that is deleted with its cluster while it starts leaves nothing', async () => {
    const pool = ['--pool', 'workers=1,machine=tcg', '--control-plane', 'embedded', '--no-wait'];
    expect(await tenantry('cluster', 'create', 'short', '-n', 'acme', ...pool)).toMatchObject({ code: 0 });
    await until(() => Promise.resolve(guests().length > 0));
    expect(await tenantry('cluster', 'delete', 'short', '-n', 'acme', '--confirm', 'short')).toMatchObject({ code: 0 });
    expect(guests()).toEqual([]);
    expect(readdirSync(join(data, 'clusters/workers/machines'))).toEqual([]);
  }, 300_000);
});
