import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc } from '../../src/api/tenantry.dev/v1alpha1/vpc.ts';
import { macOf } from '../../src/areas/clusters/network/model/address-plan.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { RCODE } from '../../src/lib/dns/message.ts';
import { type } from '../e2e/command.ts';
import { spawnEngine, type SpawnedEngine } from '../support/spawned-engine.ts';
import { AccessWorld, clientKeys, until, webCertificate } from './clusters-access-world.ts';
import { openWorkbench, type Workbench } from './kubectl.ts';
import { nodeTools } from './node-tools.ts';
import { filesInView, lastDescendant, statusOf } from '../support/enclosed-process.ts';
import { wireguardFolder } from './wireguard-binary.ts';

const EXTERNAL = '198.51.100.16/29';
const UP = ['--node', 'none', '--external-addresses', EXTERNAL];
const SUBNETS = [{ name: 'one', cidr: '10.0.1.0/24' }];
const NODE_PORT = 30_080;

const CAP_NET_BIND_SERVICE = 10;
const CAP_NET_ADMIN = 12;

/** The product as an operator runs it, with namespaces in the role of workers. The tests are one story. */
describe('access from outside', () => {
  const id = randomBytes(2).toString('hex');
  const world = new AccessWorld(id);
  const keys = clientKeys();
  const strangerKeys = clientKeys();
  const worker: Record<string, string> = {};
  let bench: Workbench;
  let engine: SpawnedEngine;
  let data: string;
  let wireguard: string;
  let outside: string;
  let stranger: string;
  let registry: string;

  const tenantry = (...words: string[]) => type(process.execPath, ['bin/tenantry', ...words, '--kubeconfig', join(data, 'kubeconfig')]);
  const vpc = async (): Promise<Vpc> => JSON.parse(await bench.works('get vpc acme -n acme -o json')) as Vpc;
  const cluster = async (): Promise<TenantCluster> => JSON.parse(await bench.works('get tcl dev -n acme -o json')) as TenantCluster;
  const inside = (line: string, stdin?: string): Promise<string> => bench.works(`--kubeconfig dev.kubeconfig ${line}`, stdin);
  const apply = (...objects: object[]): Promise<string> =>
    inside('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const ingressOf = async (name: string): Promise<string[]> => {
    const { status } = JSON.parse(await inside(`get service ${name} -n web -o json`));
    return (status.loadBalancer.ingress ?? []).map(({ ip }: { ip: string }) => ip);
  };
  const setVpc = async (spec: object): Promise<void> => {
    const metadata = { name: 'acme', namespace: 'acme' };
    await bench.works(
      'apply -f -',
      JSON.stringify({ apiVersion: 'tenantry.dev/v1alpha1', kind: 'Vpc', metadata, spec: { subnets: SUBNETS, ...spec } }),
    );
    await until(async () => {
      const {
        metadata: { generation },
        status,
      } = await vpc();
      return status?.observedGeneration === generation && findCondition(status?.conditions, 'Ready')?.status === 'True';
    });
  };
  const service = (spec: object, ...names: string[]): object[] => [
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'front', namespace: 'web' }, spec: { type: 'LoadBalancer', ...spec } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'front-1', namespace: 'web', labels: { 'kubernetes.io/service-name': 'front' } },
      addressType: 'IPv4',
      ports: [{ port: 8080 }],
      endpoints: names.map((name) => ({ addresses: [`10.200.${name.slice(1)}.5`], nodeName: name, conditions: { ready: true } })),
    },
  ];

  /** Workers are in the status of their cluster, and Nodes inside; here a namespace takes the place of a machine. */
  const playWorkers = async (...names: string[]): Promise<void> => {
    const entries = [];
    for (const name of names) {
      const place = world.namespace(name);
      worker[name] = place;
      world.ip(place, ['link set lo up', `address add 10.200.${name.slice(1)}.5/32 dev lo`]);
      await world.listen(place, 8080, name);
      await world.listen(place, NODE_PORT, `${name} by its node port`);
      const address = `10.0.1.1${name.slice(1)}`;
      const attachment = { kind: 'Namespace', path: place };
      entries.push({
        name,
        pool: 'played',
        provider: 'played',
        address,
        mac: macOf('acme', address),
        attachment,
        podCidrs: [`10.200.${name.slice(1)}.0/24`],
      });
    }
    await bench.works(`patch tcl dev -n acme --subresource=status --type=merge -p '${JSON.stringify({ status: { workers: entries } })}'`);
    await until(async () => (await vpc()).status?.workers === names.length);
  };
  const readyNode = async (name: string): Promise<void> => {
    await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'Played', message: '' }] };
    await inside(`patch node ${name} --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);
  };

  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('Cannot test networks: this is not root; run it as root');
    await nodeTools('ip', 'nft', 'bwrap');
    const folder = await wireguardFolder();
    wireguard = join(folder, 'wireguard-go');
    process.env['PATH'] = `${folder}:${process.env['PATH']}`;
    outside = world.outsider('outside', 0, [EXTERNAL, '10.0.1.0/24']);
    stranger = world.outsider('stranger', 1, [EXTERNAL]);
    registry = await world.registry();
    bench = await openWorkbench(UP);
    engine = bench.engine;
    data = join(bench.folder, 'data');
    mkdirSync(join(data, 'node'), { recursive: true });
    writeFileSync(join(data, 'node/registries.yaml'), `registries:\n  '${registry}': { insecure: true }\n`);
    expect(await tenantry('tenant', 'create', 'acme', '--owner', 'anna')).toMatchObject({ code: 0 });
    await setVpc({});
    // One that sleeps has a network, and makes no workers: so namespaces can take the place of them before it wakes.
    const spec = { sleep: true, network: { subnet: 'one' }, nodePools: [{ name: 'played', replicas: 2 }] };
    const object = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'TenantCluster', metadata: { name: 'dev', namespace: 'acme' }, spec };
    await bench.works('apply -f -', JSON.stringify(object));
    await until(async () => (await cluster()).status?.phase === 'Asleep');
    await playWorkers('w1', 'w2');
    await bench.works(`patch tcl dev -n acme --type=merge -p '${JSON.stringify({ spec: { sleep: false } })}'`);
    await until(async () => findCondition((await cluster()).status?.conditions, 'AccessGranted')?.status === 'True');
    bench.file('dev.kubeconfig', (await tenantry('cluster', 'kubeconfig', 'dev', '-n', 'acme')).stdout);
    await inside('create namespace web');
  });

  afterAll(async () => {
    const remove = () => tenantry('cluster', 'delete', 'dev', '-n', 'acme', '--confirm', 'dev');
    if ((await remove()).code !== 0) {
      // A test ended while it was dead.
      engine = await spawnEngine(data, { args: UP });
      await remove();
    }
    await bench?.kubectl(['delete', 'vpc', '--all', '-n', 'acme']);
    await engine?.stop();
    world.close();
    rmSync(bench.folder, { recursive: true, force: true });
  });

  it('a Service of the type LoadBalancer gets an address in the segment, and leads to the node ports of ready workers', async () => {
    await apply(...service({ ports: [{ port: 80, nodePort: NODE_PORT }] }, 'w1'));
    await until(async () => (await ingressOf('front')).join() === '10.0.1.254');
    expect(await world.ask(worker['w2'], '10.0.1.254', 80)).toBe('ECONNREFUSED');
    await readyNode('w1');
    await until(async () => (await world.ask(worker['w2'], '10.0.1.254', 80)) === 'w1 by its node port');
    expect((await cluster()).status?.loadBalancers).toMatchObject([{ service: 'web/front', address: '10.0.1.254' }]);
  });

  it('leads to Pods where it has no node ports, gets the address it asks for, and says why it cannot', async () => {
    await inside('delete service front -n web');
    await until(async () => (await cluster()).status?.loadBalancers?.length === 0);
    const spec = { ports: [{ port: 80 }], allocateLoadBalancerNodePorts: false };
    await apply(...service({ ...spec, loadBalancerIP: '10.0.1.11' }, 'w1', 'w2'));
    await until(async () =>
      (await inside('get events -n web -o json')).includes('Cannot give it the address \\"10.0.1.11\\": it is in use'),
    );
    await apply(...service({ ...spec, loadBalancerIP: '10.0.1.77' }, 'w1', 'w2'));
    await until(async () => (await ingressOf('front')).join() === '10.0.1.77');
    const seen = new Set<string>();
    await until(async () => seen.add(await world.ask(worker['w2'], '10.0.1.77', 80)).has('w1') && seen.has('w2'));
  });

  it('keeps its address while Tenantry is dead, and after it came back', async () => {
    await engine.kill();
    expect(await world.ask(worker['w2'], '10.0.1.77', 80)).toMatch(/^w\d$/);
    engine = await spawnEngine(data, { args: UP });
    await until(async () => (await ingressOf('front')).join() === '10.0.1.77');
    expect(await world.ask(worker['w2'], '10.0.1.77', 80)).toMatch(/^w\d$/);
  });

  it('workers find names of the world and images of the platform, and nothing else of it', async () => {
    const { network } = (await cluster()).status!;
    expect(network!.listeners!.map(({ name }) => name)).toEqual(['images', 'names', 'names-tcp']);
    const { address } = network!;
    expect(await world.resolve(worker['w1'], address, 'kubernetes.default.svc.cluster.local')).toBe(RCODE.NXDOMAIN);
    expect(await world.resolve(worker['w1'], address, 'metadata.google.internal')).toBe(RCODE.NXDOMAIN);
    expect(await world.resolve(worker['w1'], address, 'www.example.com')).not.toBe(RCODE.REFUSED);
    const get = (target: string): Promise<string> => world.get(worker['w1'], address, 5000, target);
    expect(await get(`/v2/${registry}/team/app/manifests/1`)).toBe('200 {"schemaVersion":2}');
    expect(await get(`/v2/${new URL((await cluster()).status!.endpoint!).host}/team/app/manifests/1`)).toMatch(/^404 /);
    expect(await world.ask(worker['w1'], '127.0.0.1', Number(registry.split(':')[1]))).toBe('ECONNREFUSED');
    // What the operator loads is for his own Pods, unless he says that it is for tenants too.
    const archive = savedImage(bench.folder, 'app:1');
    const load = (...words: string[]) => type(process.execPath, ['bin/tenantry', 'image', 'load', archive, '--data', data, ...words]);
    expect(await load()).toMatchObject({ code: 0 });
    expect(await get('/v2/docker.io/library/app/manifests/1')).toMatch(/^404 /);
    expect(await load('--tenants')).toMatchObject({ code: 0 });
    expect(await get('/v2/docker.io/library/app/manifests/1')).toMatch(/^200 .*"layers":/);
    expect(await type(process.execPath, ['bin/tenantry', 'image', 'rm', 'app:1', '--data', data])).toMatchObject({ code: 0 });
    expect(await get('/v2/docker.io/library/app/manifests/1')).toMatch(/^404 /);
  });

  it('is reached from outside where the Vpc says so, and not otherwise', async () => {
    expect(await world.ask(outside, '198.51.100.17', 80)).not.toMatch(/^w\d$/);
    const services = [{ cluster: 'dev', namespace: 'web', name: 'front' }];
    await setVpc({ external: { services } });
    await until(async () => /^w\d$/.test(await world.ask(outside, '198.51.100.17', 80)));
    expect(await world.ask(undefined, '198.51.100.17', 80)).toMatch(/^w\d$/);
    await until(async () => (await ingressOf('front')).join() === '10.0.1.77,198.51.100.17');
    expect((await vpc()).status?.external).toMatchObject({
      address: '198.51.100.17',
      services: [{ state: 'Published', ports: ['80/tcp'] }],
    });
    // Neither the address inside nor a worker is reached from there.
    expect([await world.ask(outside, '10.0.1.77', 80), await world.ask(outside, '10.0.1.11', 8080)].join()).not.toMatch(/w\d/);
    await setVpc({});
    await until(async () => !/^w\d$/.test(await world.ask(outside, '198.51.100.17', 80)));
    await until(async () => (await ingressOf('front')).join() === '10.0.1.77');
  });

  it('lets those who have a key into the VPC, and nobody else', async () => {
    const peer = (name: string, publicKey: string, address: string) => ({ name, publicKey, addresses: [address] });
    await setVpc({ vpn: { peers: [peer('anna', keys.publicKey, '10.99.0.2/32')] } });
    const { vpn } = (await vpc()).status!;
    expect(vpn!.endpoint).toBe('198.51.100.17:51820');
    await world.dial(outside, wireguard, keys, vpn!, '10.99.0.2');
    await world.dial(stranger, wireguard, strangerKeys, vpn!, '10.99.0.2');
    await until(async () => (await world.ask(outside, '10.0.1.11', 8080)) === 'w1');
    await until(async () => /^w\d$/.test(await world.ask(outside, '10.0.1.77', 80)));
    expect(await world.ask(stranger, '10.0.1.11', 8080)).not.toBe('w1');
    // It is in the VPC and nowhere else: neither the platform nor the world are behind it.
    const { transit } = (await vpc()).status!;
    world.ip(outside, [`route replace ${transit!.machine}/32 dev wgc${id}0`]);
    expect(await world.ask(outside, transit!.machine, Number(new URL((await cluster()).status!.endpoint!).port))).toBe('no answer');
    await setVpc({ vpn: { peers: [peer('berta', strangerKeys.publicKey, '10.99.0.2/32')] } });
    await until(async () => (await world.ask(stranger, '10.0.1.11', 8080)) === 'w1');
    expect(await world.ask(outside, '10.0.1.11', 8080)).not.toBe('w1');
    await setVpc({ vpn: { peers: [peer('anna', keys.publicKey, '10.99.0.2/32')] } });
    await until(async () => (await world.ask(outside, '10.0.1.11', 8080)) === 'w1');
    expect(await world.ask(stranger, '10.0.1.11', 8080)).not.toBe('w1');
  });

  const gatewayPid = (): number => {
    const folder = join(data, 'clusters/vpn');
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { process: { pid: number } }).process.pid;
  };

  /** Of who looks after it: its command line says where its cache is. */
  const servicesPid = (): number =>
    Number(
      readdirSync('/proc').find((pid) => {
        try {
          return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0${join(data, 'clusters/images')}\0`);
        } catch {
          return false;
        }
      }),
    );

  it('has nobody in its gateway or its services who could do more than they are for', () => {
    const mask = (capability: number) => (1n << BigInt(capability)).toString(16).padStart(16, '0');
    const rightsOf = (pid: number) => {
      const { Uid, CapEff, CapBnd, CapAmb, NoNewPrivs } = statusOf(pid);
      return { user: Number(Uid.split(' ')[0]), rights: new Set([CapEff, CapBnd, CapAmb]), NoNewPrivs };
    };
    const seenBy = (pid: number, whole: string[] = []) =>
      new Set(filesInView(pid, whole).flatMap((path) => (/\.so[.\d]*$|^\/dev\//.test(path) ? [] : path.slice(path.lastIndexOf('/') + 1))));
    const gateway = lastDescendant(gatewayPid());
    expect(rightsOf(gateway)).toEqual({ user: expect.any(Number), rights: new Set([mask(CAP_NET_ADMIN)]), NoNewPrivs: '1' });
    expect(rightsOf(gateway).user).toBeGreaterThanOrEqual(1_900_200_000);
    expect(seenBy(gateway)).toEqual(new Set(['setpriv', 'wireguard-go', expect.stringMatching(/\.sock$/)]));
    const services = lastDescendant(servicesPid());
    expect(rightsOf(services)).toEqual({ user: expect.any(Number), rights: new Set([mask(CAP_NET_BIND_SERVICE)]), NoNewPrivs: '1' });
    expect(rightsOf(services).user).toBeGreaterThanOrEqual(1_900_300_000);
    const own = [process.cwd(), '/authorities', '/cache', '/shared'];
    const names = own.map((path) => path.slice(path.lastIndexOf('/') + 1));
    const others = [...seenBy(services, own)].filter((name) => !names.includes(name));
    expect(new Set(others)).toEqual(new Set(['node', 'setpriv', 'hosts', 'nsswitch.conf', 'resolv.conf']));
  });

  it('makes a gateway again that is killed, and one whose router was deleted', async () => {
    const before = gatewayPid();
    process.kill(before, 'SIGKILL');
    await until(async () => (await world.ask(outside, '10.0.1.11', 8080)) === 'w1');
    expect(gatewayPid()).not.toBe(before);
    const { instance } = JSON.parse(readFileSync(join(data, 'clusters/network.json'), 'utf8')) as { instance: string };
    const [router] = readdirSync('/run/netns').filter((name) => name.startsWith(`tenantry-vpc-${instance}-`));
    execFileSync('ip', ['netns', 'delete', router]);
    await until(async () => (await world.ask(outside, '10.0.1.11', 8080)) === 'w1');
  });

  it('finds its gateway again after a restart, and clients notice nothing', async () => {
    const before = gatewayPid();
    await engine.kill();
    expect(await world.ask(outside, '10.0.1.11', 8080)).toBe('w1');
    engine = await spawnEngine(data, { args: UP });
    await until(async () => findCondition((await vpc()).status?.conditions, 'Ready')?.status === 'True');
    expect(await world.ask(outside, '10.0.1.11', 8080)).toBe('w1');
    expect(gatewayPid()).toBe(before);
  });

  it('routes a site that is connected through a worker, for workers and for clients of the VPN', async () => {
    world.ip(worker['w2'], ['address add 10.77.0.1/32 dev lo']);
    const peers = [{ name: 'anna', publicKey: keys.publicKey, addresses: ['10.99.0.2/32'] }];
    await setVpc({ routes: [{ cidr: '10.77.0.0/24', via: '10.0.1.12' }], vpn: { peers } });
    await until(async () => (await world.ask(worker['w1'], '10.77.0.1', 8080)) === 'w2');
    await until(async () => (await world.ask(outside, '10.77.0.1', 8080)) === 'w2');
    await setVpc({ vpn: { peers } });
    await until(async () => (await world.ask(worker['w1'], '10.77.0.1', 8080)) !== 'w2');
  });

  it('terminates TLS for Ingresses, seen from outside of the VPC, with no more rights than it needs', async () => {
    await bench.works(`patch tcl dev -n acme --type=merge -p '${JSON.stringify({ spec: { addOns: ['ingress'] } })}'`);
    await until(
      async () =>
        (await bench.kubectl(['--kubeconfig', 'dev.kubeconfig', 'get', 'service', 'tenantry-ingress', '-n', 'kube-system'])).code === 0,
    );
    const { spec } = JSON.parse(await inside('get service tenantry-ingress -n kube-system -o json')) as {
      spec: { ports: { nodePort: number }[] };
    };
    const [http, https] = spec.ports.map(({ nodePort }) => String(nodePort));
    // A process in the namespace of a worker takes the place of the Pod, with the identity of its ServiceAccount.
    const secrets = join(bench.folder, 'pod/var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(secrets, { recursive: true });
    const config = JSON.parse(await inside('config view --raw -o json')) as {
      clusters: { cluster: { 'certificate-authority-data': string } }[];
    };
    writeFileSync(join(secrets, 'ca.crt'), Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64'));
    writeFileSync(join(secrets, 'token'), (await inside('create token tenantry-ingress -n kube-system')).trim());
    writeFileSync(join(secrets, 'namespace'), 'kube-system');
    const endpoint = new URL((await cluster()).status!.endpoint!);
    world.run(worker['w1'], [process.execPath, 'dist/ingress.js', '--http', http, '--https', https, '--health', '18081'], {
      KUBERNETES_SERVICE_HOST: endpoint.hostname,
      KUBERNETES_SERVICE_PORT: endpoint.port,
      TENANTRY_ROOT: join(bench.folder, 'pod'),
    });
    await world.serve(worker['w2'], 8088, 'page of w2');
    const certificate = webCertificate('shop.example');
    const [, slice] = service({}, 'w2') as [object, { metadata: object }];
    const labels = { 'kubernetes.io/service-name': 'page' };
    await apply(
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'page', namespace: 'web' }, spec: { ports: [{ port: 80 }] } },
      { ...slice, metadata: { name: 'page-1', namespace: 'web', labels }, ports: [{ port: 8088 }] },
      { ...slice, metadata: { name: 'ingress-1', namespace: 'kube-system', labels: { 'kubernetes.io/service-name': 'tenantry-ingress' } } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/tls',
        metadata: { name: 'shop', namespace: 'web' },
        stringData: certificate,
      },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'shop', namespace: 'web' },
        spec: {
          ingressClassName: 'tenantry',
          tls: [{ hosts: ['shop.example'], secretName: 'shop' }],
          rules: [
            {
              host: 'shop.example',
              http: { paths: [{ path: '/a', pathType: 'Prefix', backend: { service: { name: 'page', port: { number: 80 } } } }] },
            },
          ],
        },
      },
    );
    const services = [{ cluster: 'dev', namespace: 'kube-system', name: 'tenantry-ingress' }];
    await setVpc({ external: { services } });
    const { address } = (await vpc()).status!.external!;
    const browse = (name: string, path = '/a'): Promise<string> => world.browse(stranger, address, name, certificate['tls.crt'], path);
    await until(async () => {
      // Nobody else says that this node is alive.
      await readyNode('w1');
      return (await browse('shop.example')) === '200 page of w2';
    });
    expect(await browse('shop.example', '/b')).toBe('404 No Ingress is for shop.example/b.');
    expect(await browse('other.example')).not.toContain('page');
    await until(async () => (await inside('get ingress shop -n web -o json')).includes(address));
    const may = async (what: string): Promise<string> =>
      (
        await bench.kubectl([
          '--kubeconfig',
          'dev.kubeconfig',
          'auth',
          'can-i',
          ...what.split(' '),
          '-A',
          '--as',
          'system:serviceaccount:kube-system:tenantry-ingress',
        ])
      ).out.trim();
    expect([await may('list secrets'), await may('update services'), await may('get secrets')]).toEqual(['no', 'no', 'yes']);
  });

  it('leaves nothing of a gateway that is no longer wanted', async () => {
    await setVpc({ vpn: { peers: [] } });
    const pid = gatewayPid();
    await setVpc({});
    expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
    expect(readdirSync(join(data, 'clusters/vpn'))).toEqual([]);
    expect((await vpc()).status?.vpn).toBeUndefined();
  });
});

/** An image of one empty layer, as `docker save` writes it. */
function savedImage(folder: string, name: string): string {
  const layer = Buffer.alloc(1024);
  const diffId = `sha256:${createHash('sha256').update(layer).digest('hex')}`;
  const rootfs = { type: 'layers', diff_ids: [diffId] };
  const files = {
    'config.json': JSON.stringify({ architecture: process.arch === 'arm64' ? 'arm64' : 'amd64', os: 'linux', config: {}, rootfs }),
    'layer.tar': layer,
    'manifest.json': JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]),
  };
  const contents = join(folder, 'saved');
  mkdirSync(contents);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(contents, file), content);
  execFileSync('tar', ['-C', contents, '-cf', join(folder, 'saved.tar'), ...Object.keys(files)]);
  return join(folder, 'saved.tar');
}
