import { rmSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RUNTIMED_HEALTH_PORT } from '../../src/api/kruntimes.io/v1alpha1/names.ts';
import type { Run } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import type { Tenant } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { createClient } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { parseKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Pod } from '../../src/client/kinds.ts';
import { podPortForward } from '../../src/client/streams/port-forward.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { type } from '../e2e/command.ts';
import { openWorkbench, type Workbench } from './kubectl.ts';
import { guestKernel, nodeTools } from './node-tools.ts';

const until = <T>(met: () => Promise<T>) => vi.waitUntil(met, { timeout: 300_000, interval: 500 });

const RUNTIME = {
  apiVersion: 'kruntimes.io/v1alpha1',
  kind: 'Runtime',
  metadata: { name: 'bash', namespace: 'acme--dev' },
  spec: { isolation: 'shared', template: { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash' }] } } },
};
/** In all languages of built-in Runtimes at once: each Runtime more is two programs more for a machine that is emulated. */
const KERNELS = `uname -r; python3 -c 'import os; print(os.uname().release)'; node -p 'os.release()'`;

/** As root, with a real guest. One story: each test goes on where the one before it ended. */
describe('the dial', () => {
  let bench: Workbench;
  let data: string;
  const command = (program: string, ...words: string[]) => type(process.execPath, [`bin/${program}`, ...words]);
  const here = () => ['--kubeconfig', join(data, 'kubeconfig')];
  const tenantOf = async () => JSON.parse(await bench.works('get tenant acme -o json')) as Tenant;
  const settled = (isolation: string) =>
    until(async () => {
      const { metadata, status } = await tenantOf();
      const isNow = status?.observedGeneration === metadata.generation && status?.isolation === isolation;
      return isNow && findCondition(status?.conditions, 'Ready')?.status === 'True';
    });
  /** The kernel that a Run finds itself on, and where. */
  const kernelOf = async (name: string, code = 'uname -r'): Promise<{ kernel: string; run: Run }> => {
    const where = [...here(), '--name', name, '--runtime', 'bash', '-n', 'acme--dev'];
    const ran = await command('krt', 'run', ...where, '--wait', '--', code);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const { stdout } = await command('krt', 'logs', ...here(), name, '-n', 'acme--dev');
    return { kernel: stdout.trim(), run: JSON.parse(await bench.works(`get run ${name} -n acme--dev -o json`)) as Run };
  };

  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('Cannot test tenants in clusters of their own: this is not root; run it as root');
    await nodeTools('qemu-system-x86_64', 'bwrap', 'busybox', 'ip', 'nft', 'runc', 'python3');
    await guestKernel();
    bench = await openWorkbench(['--cluster-network', 'linux']);
    data = join(bench.folder, 'data');
    expect(await command('tenantry', 'tenant', 'create', 'acme', ...here())).toMatchObject({ code: 0 });
    expect(await command('tenantry', 'ns', 'create', 'dev', '-n', 'acme', ...here())).toMatchObject({ code: 0 });
    await bench.works('apply -f -', JSON.stringify(RUNTIME));
  }, 600_000);
  afterAll(async () => {
    await command('tenantry', 'tenant', 'delete', 'acme', '--confirm', 'acme', ...here());
    await bench.engine.stop();
    rmSync(bench.folder, { recursive: true, force: true });
  }, 180_000);

  it('is planned first: what moves, what stays, and what the cluster will be', async () => {
    expect((await kernelOf('first')).kernel).toBe(release());
    const { code, stdout } = await command('tenantry', 'tenant', 'plan', 'acme', '--isolation', 'Cluster', ...here());
    expect(stdout).toMatch(/Isolation: +Namespace -> Cluster/);
    expect(stdout).toMatch(/Cluster: +acme/);
    expect(stdout).toMatch(/Runtimes: +acme--dev\/bash/);
    expect(stdout).not.toContain('In the way');
    expect(code).toBe(0);
  }, 200_000);

  it('turned to Cluster, the same Runtime and the same Run work on a kernel of the tenant’s own', async () => {
    const pool = { name: 'workers', replicas: 1, machine: 'tcg' };
    const patch = { spec: { isolation: 'Cluster', cluster: { provider: 'embedded', nodePools: [pool] } } };
    await bench.works(`patch tenant acme --type merge -p '${JSON.stringify(patch)}'`);
    await settled('Cluster');
    const { kernel, run } = await kernelOf('second', KERNELS);
    const kernels = kernel.split('\n');
    expect(kernels).toHaveLength(3);
    expect(new Set(kernels).size).toBe(1);
    expect(kernels[0]).toMatch(/^\d+\./);
    expect(kernels[0]).not.toBe(release());
    expect(run.status).toMatchObject({ phase: 'Succeeded', placedIn: 'acme' });
    expect(await bench.works('get pods -n acme--dev -l runtime=bash -o name')).toBe('');
    // A machine that is emulated may be too busy with the Run to say at once that it is well.
    await until(async () => (await bench.works('get runtime bash -n acme--dev -o jsonpath={.status.readyReplicas}')) === '1');
  }, 600_000);

  it('a Pod on its worker is reached through the API server of the cluster, as the plugin gateway does it', async () => {
    const { stdout } = await command('tenantry', 'cluster', 'kubeconfig', 'acme', '-n', 'acme', ...here());
    const transport = await connectContext(resolveContext(await parseKubeconfig(stdout)));
    const client = createClient(transport);
    try {
      const { items } = await client.resource(Pod, 'acme--dev').list({ labelSelector: 'runtime=bash' });
      const forward = await podPortForward(transport, { namespace: 'acme--dev', name: items[0].metadata.name! });
      for (let request = 0; request < 2; request++) {
        const connection = await forward.open(RUNTIMED_HEALTH_PORT);
        connection.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
        expect(await text(connection)).toMatch(/^HTTP\/1\.1 200 /);
      }
      forward.close();
    } finally {
      await client.close();
    }
  }, 120_000);

  it('turned back, they work on the host again, and the cluster is gone', async () => {
    await bench.works(`patch tenant acme --type merge -p '{"spec":{"isolation":"Namespace"}}'`);
    await settled('Namespace');
    const { kernel, run } = await kernelOf('third');
    expect(kernel).toBe(release());
    expect(run.status).not.toHaveProperty('placedIn');
    expect(await bench.works('get tenantclusters -A -o name')).toBe('');
  }, 300_000);
});
