import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TenantCluster } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc } from '../../src/api/tenantry.dev/v1alpha1/vpc.ts';
import { macOf } from '../../src/areas/clusters/network/model/address-plan.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { connectTcp, listenTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { type } from '../e2e/command.ts';
import { binary } from './binaries.ts';
import { openWorkbench, type Workbench } from './kubectl.ts';
import { nodeTools } from './node-tools.ts';

const UP = ['--node', 'none'];
const SILENCE_MS = 800;
const WORKER_PORT = 8080;
const until = (met: () => Promise<unknown>) => vi.waitUntil(met, { timeout: 60_000, interval: 100 });

/** A namespace in the role of a worker. */
interface Worker {
  tenant: string;
  namespace: string;
  path: string;
  address: string;
}

/** The product as an operator runs it. The tests are one story: each goes on where the one before it ended. */
describe('networks of tenants', () => {
  const id = randomBytes(3).toString('hex');
  const workers: Worker[] = [];
  const servers: Server[] = [];
  let bench: Workbench;
  let engine: SpawnedEngine;
  let data: string;
  let kubectlPath: string;

  const tenantry = (...words: string[]) => type(process.execPath, ['bin/tenantry', ...words, '--kubeconfig', join(data, 'kubeconfig')]);
  const vpcOf = async (tenant: string) => JSON.parse(await bench.works(`get vpc ${tenant} -n ${tenant} -o json`)) as Vpc;
  const clusterOf = async (tenant: string) => JSON.parse(await bench.works(`get tcl dev -n ${tenant} -o json`)) as TenantCluster;
  const worker = (tenant: string) => workers.find((each) => each.tenant === tenant)!;
  const isReady = ({ metadata, status }: Vpc) =>
    status?.observedGeneration === metadata.generation && findCondition(status?.conditions, 'Ready')?.status === 'True';
  const instance = () => (JSON.parse(readFileSync(join(data, 'clusters/network.json'), 'utf8')) as { instance: string }).instance;
  const routers = () => readdirSync('/run/netns').filter((name) => name.startsWith(`tenantry-vpc-${instance()}-`));

  const setVpc = async (tenant: string, spec: object) => {
    const vpc = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'Vpc', metadata: { name: tenant, namespace: tenant }, spec };
    await bench.works('apply -f -', JSON.stringify(vpc));
    await until(async () => isReady(await vpcOf(tenant)));
  };
  const subnet = (cidr: string) => ({ subnets: [{ name: 'one', cidr }] });

  /** Workers are in the status of their cluster; here a namespace takes the place of a machine. */
  const attach = async (tenant: string, address: string) => {
    const namespace = `ttv-${id}-${tenant}`;
    execFileSync('ip', ['netns', 'add', namespace]);
    const path = `/run/netns/${namespace}`;
    workers.push({ tenant, namespace, path, address });
    servers.push(await listenTcp(path, { address: '0.0.0.0', port: WORKER_PORT }, (socket) => socket.on('error', () => {}).end(tenant)));
    const entry = {
      name: `dev-${tenant}`,
      pool: 'played',
      provider: 'played',
      address,
      mac: macOf(tenant, address),
      attachment: { kind: 'Namespace', path },
    };
    const patch = JSON.stringify({ status: { workers: [entry] } });
    await bench.works(`patch tcl dev -n ${tenant} --subresource=status --type=merge -p '${patch}'`);
    await until(async () => (await vpcOf(tenant)).status?.workers === 1);
  };

  const make = async (tenant: string, cidr: string, address: string) => {
    expect(await tenantry('tenant', 'create', tenant, '--owner', `${tenant}-owner`)).toMatchObject({ code: 0 });
    await setVpc(tenant, subnet(cidr));
    // One that sleeps has a network, and makes no workers: so a namespace can take the place of one before it wakes.
    const spec = { sleep: true, network: { subnet: 'one' }, nodePools: [{ name: 'played', replicas: 1 }] };
    const cluster = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'TenantCluster', metadata: { name: 'dev', namespace: tenant }, spec };
    await bench.works('apply -f -', JSON.stringify(cluster));
    await until(async () => (await clusterOf(tenant)).status?.phase === 'Asleep');
    await attach(tenant, address);
    await bench.works(`patch tcl dev -n ${tenant} --type=merge -p '${JSON.stringify({ spec: { sleep: false } })}'`);
    await until(async () => findCondition((await clusterOf(tenant)).status?.conditions, 'AccessGranted')?.status === 'True');
    bench.file(`${tenant}.kubeconfig`, (await tenantry('cluster', 'kubeconfig', 'dev', '-n', tenant)).stdout);
  };

  /** What a tenant's worker hears from there. */
  const ask = async (from: string, address: string, port: number): Promise<string> => {
    try {
      const socket = await connectTcp(worker(from).path, { address, port }, { timeoutMs: SILENCE_MS });
      const said = await new Promise<string>((resolve) => {
        const timer = setTimeout(() => resolve('connected'), SILENCE_MS);
        socket.on('error', () => {});
        socket.once('data', (chunk) => (clearTimeout(timer), resolve(chunk.toString())));
      });
      socket.destroy();
      return said;
    } catch {
      return 'no answer';
    }
  };
  const kubectlIn = (from: string, kubeconfig: string): string => {
    const words = [
      kubectlPath,
      '--kubeconfig',
      join(bench.folder, `${kubeconfig}.kubeconfig`),
      '--request-timeout=5s',
      'get',
      '--raw',
      '/readyz',
    ];
    try {
      return execFileSync('ip', ['netns', 'exec', worker(from).namespace, ...words], { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
    } catch {
      return 'failed';
    }
  };

  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('Cannot test networks: this is not root; run it as root');
    await nodeTools('ip', 'nft', 'ethtool', 'ovn-northd', 'ovn-controller', 'ovs-vswitchd');
    kubectlPath = await binary('kubectl');
    bench = await openWorkbench(UP);
    engine = bench.engine;
    data = join(bench.folder, 'data');
    await make('acme', '10.0.1.0/24', '10.0.1.10');
    await make('beta', '10.0.1.0/24', '10.0.1.20');
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    if (bench === undefined) return;
    for (const kind of ['tcl', 'vpc']) await bench.kubectl(['delete', kind, '--all', '-A', '--timeout=60s']);
    for (const { namespace } of workers) execFileSync('ip', ['netns', 'delete', namespace]);
    await engine.stop();
    rmSync(bench.folder, { recursive: true, force: true });
  });

  it('a worker reaches the endpoint of its own cluster, and not that of another tenant', async () => {
    const [acme, beta] = [await clusterOf('acme'), await clusterOf('beta')];
    expect(acme.status?.endpoint).toContain(acme.status!.network!.address);
    expect(acme.status!.network!.address).not.toBe(beta.status!.network!.address);
    expect([kubectlIn('acme', 'acme'), kubectlIn('beta', 'beta')]).toEqual(['ok', 'ok']);
    const { hostname, port } = new URL(beta.status!.endpoint!);
    expect(await ask('acme', hostname, Number(port))).toBe('no answer');
    // Nor by anything else that leads to the machine.
    expect(await ask('acme', acme.status!.network!.address, Number(port))).toBe('no answer');
  });

  it('reaches nothing else of the machine, and no worker of a tenant with the same addresses', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('machine')).listen(0, '0.0.0.0');
    await new Promise((resolve) => void server.once('listening', resolve));
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    const [{ status }, other] = [await vpcOf('acme'), await vpcOf('beta')];
    const platformApi = Number(/https:[^\s"]+:(\d+)/.exec(readFileSync(join(data, 'kubeconfig'), 'utf8'))![1]);
    for (const address of [status!.transit!.machine, other.status!.transit!.machine, '10.0.1.1', '127.0.0.1']) {
      expect(await ask('acme', address, port), address).toBe('no answer');
      expect(await ask('acme', address, platformApi), address).toBe('no answer');
    }
    expect(await ask('acme', worker('beta').address, WORKER_PORT)).toBe('no answer');
    expect(await ask('acme', other.status!.transit!.router, WORKER_PORT)).toBe('no answer');
  });

  it('peers when both sides say so, and no longer when one does not', async () => {
    await make('gamma', '10.9.0.0/24', '10.9.0.10');
    const peer = async (tenant: string, at: number) => (await vpcOf(tenant)).status?.peers?.[at];
    await setVpc('acme', { ...subnet('10.0.1.0/24'), peers: ['gamma', 'beta'] });
    await until(async () => (await peer('acme', 0))?.state === 'Waiting');
    expect(await ask('acme', '10.9.0.10', WORKER_PORT)).toBe('no answer');
    await setVpc('beta', { ...subnet('10.0.1.0/24'), peers: ['acme'] });
    await setVpc('gamma', { ...subnet('10.9.0.0/24'), peers: ['acme'] });
    await until(async () => (await peer('acme', 0))?.state === 'Peered');
    expect(await peer('acme', 1)).toMatchObject({ state: 'Refused', message: expect.stringContaining('overlaps') as string });
    await until(async () => (await ask('acme', '10.9.0.10', WORKER_PORT)) === 'gamma');
    await until(async () => (await ask('gamma', '10.0.1.10', WORKER_PORT)) === 'acme');
    await setVpc('gamma', subnet('10.9.0.0/24'));
    await until(async () => (await peer('acme', 0))?.state === 'Waiting');
    await until(async () => (await ask('acme', '10.9.0.10', WORKER_PORT)) === 'no answer');
  });

  it('what is used stays as it is, and what cannot be is refused with the reason', async () => {
    const apply = (spec: object, name = 'acme') =>
      bench.fails(
        'apply -f -',
        JSON.stringify({ apiVersion: 'tenantry.dev/v1alpha1', kind: 'Vpc', metadata: { name, namespace: 'acme' }, spec }),
      );
    expect(await apply(subnet('10.0.1.0/25'))).toContain('Cannot change subnet "one" of VPC acme: cluster dev lives in it');
    expect(await apply({ subnets: [{ name: 'two', cidr: '10.0.2.0/24' }] })).toContain('Cannot take away subnet "one"');
    expect(await apply(subnet('10.3.0.0/24'), 'second')).toContain('a tenant has one, which is called like it');
    expect(await apply({ ...subnet('10.0.1.0/24'), mode: 'VLAN' })).toContain('the mode of a VPC does not change');
    const patch = JSON.stringify({ spec: { network: { subnet: 'two' } } });
    expect(await bench.fails(`patch tcl dev -n acme --type=merge -p '${patch}'`)).toContain('a cluster stays in the subnet');
  });

  it('packets pass while Tenantry is dead, and after it came back', async () => {
    await engine.kill();
    expect(kubectlIn('acme', 'acme')).toBe('ok');
    engine = await spawnEngine(data, { args: UP });
    await until(async () => isReady(await vpcOf('acme')));
    expect(kubectlIn('acme', 'acme')).toBe('ok');
  });

  it('a router that is deleted is made again, and the others go on', async () => {
    const before = routers();
    expect(before.length).toBe(3);
    for (const router of before) {
      execFileSync('ip', ['netns', 'delete', router]);
      if (kubectlIn('beta', 'beta') === 'ok') {
        await until(async () => routers().length === 3);
        continue;
      }
      await until(() => Promise.resolve(kubectlIn('beta', 'beta') === 'ok'));
    }
    await until(() => Promise.resolve(['acme', 'beta', 'gamma'].every((tenant) => kubectlIn(tenant, tenant) === 'ok')));
  });

  it('another provider takes over, and nothing of the one before is left', async () => {
    await engine.stop();
    engine = await spawnEngine(data, { args: [...UP, '--cluster-network', 'ovn'] });
    await until(async () => (await vpcOf('gamma')).status?.provider === 'ovn' && isReady(await vpcOf('gamma')));
    await until(() => Promise.resolve(['acme', 'beta', 'gamma'].every((tenant) => kubectlIn(tenant, tenant) === 'ok')));
    const { hostname, port } = new URL((await clusterOf('beta')).status!.endpoint!);
    expect(await ask('acme', hostname, Number(port))).toBe('no answer');
    expect(routers()).toEqual([]);
  });

  it('a VPC goes after its clusters, and nothing of it is left', async () => {
    await bench.works('delete vpc acme -n acme --wait=false');
    await until(async () => findCondition((await vpcOf('acme')).status?.conditions, 'Unused')?.reason === 'InUse');
    expect(kubectlIn('acme', 'acme')).toBe('ok');
    for (const tenant of ['acme', 'beta', 'gamma']) {
      expect(await tenantry('cluster', 'delete', 'dev', '-n', tenant, '--confirm', 'dev')).toMatchObject({ code: 0 });
    }
    await bench.works('wait --for=delete vpc/acme -n acme --timeout=60s');
    for (const tenant of ['beta', 'gamma']) await bench.works(`delete vpc ${tenant} -n ${tenant}`);
    expect(readdirSync('/run/netns').filter((name) => name.includes(instance()))).toEqual([]);
    expect(execFileSync('ip', ['-br', 'link']).toString()).not.toContain(instance());
    expect(execFileSync('nft', ['list', 'tables']).toString()).not.toContain(instance());
    for (const { namespace } of workers) {
      expect(execFileSync('ip', ['-n', namespace, '-br', 'link']).toString()).not.toContain('eth0');
    }
  });
});
