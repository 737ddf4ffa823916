import { execFileSync, spawn } from 'node:child_process';
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ControlPlanes, RunningControlPlane, WantedControlPlane } from '../../src/areas/clusters/control-plane/control-planes.ts';
import { findPrograms } from '../../src/areas/clusters/control-plane/kubernetes/find-programs.ts';
import { openKubernetesPlanes } from '../../src/areas/clusters/control-plane/kubernetes/kubernetes-control-planes.ts';
import { PlaneNames } from '../../src/areas/clusters/control-plane/kubernetes/model/plane-rules.ts';
import type { ClusterRecord } from '../../src/areas/clusters/control-plane/process/cluster-folder.ts';
import { realClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { ensureLeaf } from '../../src/lib/pki/ensure-pki.ts';
import { KeyFiles } from '../../src/lib/pki/key-files.ts';
import { TunnelAgent } from '../../src/lib/tunnel/tunnel-agent.ts';
import { connectTarget } from '../support/api-target.ts';
import { controlPlanePrograms, KUBERNETES_VERSION } from './binaries.ts';

/** The machine's address of a tenant, and a namespace that plays its router. */
const TENANT_ADDRESS = '100.64.250.2';
const ROUTER = 'tenantry-test-router';
const NODE_ADDRESS = '10.77.0.9';
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller', 'kube-scheduler', 'proxy-server'];

const byName = (one = '', other = '') => one.localeCompare(other);

/** What is between the control planes of two tenants. The tests are one story. */
describe('walls between control planes of Kubernetes', { timeout: 300_000 }, () => {
  let programs: string;
  let root: string;
  let planes: ControlPlanes;
  const [a, b] = ['a', 'b'].map((name): WantedControlPlane => ({
    id: randomUUID(),
    namespace: 'acme',
    name,
    version: KUBERNETES_VERSION,
    names: [],
    accessRevision: 0,
  }));
  let runningA: RunningControlPlane;
  let runningB: RunningControlPlane;
  const record = ({ id }: WantedControlPlane) => JSON.parse(readFileSync(join(root, 'records', `${id}.json`), 'utf8')) as ClusterRecord;
  const pki = ({ id }: WantedControlPlane, file: string) => join(root, id, 'pki', file);
  const table = () => new PlaneNames(root).table;
  const childrenOf = (wanted: WantedControlPlane) => {
    const { pid } = record(wanted).process!;
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    return new Map(pids.map((child) => [readFileSync(`/proc/${child}/comm`, 'utf8').trim(), child]));
  };

  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('Cannot test networks of control planes: this is not root; run it as root');
    programs = await controlPlanePrograms();
    const { sets } = await findPrograms(programs, process.env['PATH']!);
    root = mkdtempSync(join(tmpdir(), 'tenantry-walls-'));
    const program = resolve('dist/kubernetes-control-plane.js');
    planes = await openKubernetesPlanes({
      root,
      program,
      productVersion: 'x',
      address: '127.0.0.1',
      sets,
      clock: realClock,
      log: silentLog,
    });
    const ip = (line: string) => execFileSync('ip', line.split(' '));
    ip(`netns add ${ROUTER}`);
    ip(`link add ktestup type veth peer name up0 netns ${ROUTER}`);
    ip(`address add ${TENANT_ADDRESS}/32 dev ktestup`);
    ip('link set ktestup up');
    ip('route add 100.64.250.3/32 dev ktestup');
    ip(`-n ${ROUTER} address add 100.64.250.3/32 dev up0`);
    ip(`-n ${ROUTER} link set up0 up`);
    ip(`-n ${ROUTER} route add ${TENANT_ADDRESS}/32 dev up0`);
    ip(`-n ${ROUTER} route add default via ${TENANT_ADDRESS} dev up0 onlink`);
    runningA = await planes.run(a);
    runningB = await planes.run(b);
  });
  afterAll(async () => {
    await Promise.all([a, b].map(({ id }) => planes?.remove(id)));
    await planes?.close();
    expect(execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' })).not.toContain(table());
    execFileSync('sh', ['-c', `ip netns delete ${ROUTER}; ip link delete ktestup 2>/dev/null; true`]);
    for (const folder of [root, programs].filter(Boolean)) rmSync(folder, { recursive: true, force: true });
  });

  /** Whether etcd answers to a certificate. */
  const etcdTakes = (of: WantedControlPlane, keys: { cert: Buffer; key: Buffer }): Promise<boolean> =>
    new Promise((resolve_) => {
      const options = { socketPath: join(root, of.id, 'data/etcd:0'), rejectUnauthorized: false, agent: false as const, ...keys };
      const sent = request({ ...options, method: 'POST', path: '/v3/maintenance/status' }, (response) => {
        response.resume();
        resolve_(response.statusCode === 200);
      });
      sent.once('error', () => resolve_(false));
      sent.end('{}');
    });
  /** Whether the tunnel speaks to a certificate: the first word is the server's. */
  const tunnelTakes = ({ tunnel }: RunningControlPlane, keys: { cert: Buffer; key: Buffer }): Promise<boolean> =>
    new Promise((resolve_) => {
      const socket = connect({ host: tunnel!.address, port: tunnel!.port, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...keys });
      socket.once('data', () => {
        resolve_(true);
        socket.destroy();
      });
      socket.once('close', () => resolve_(false));
      socket.once('error', () => resolve_(false));
    });
  const apiStatus = (
    { endpoint }: RunningControlPlane,
    keys: { cert: Buffer; key: Buffer },
    { method = 'GET', path = '', body }: { method?: string; path?: string; body?: string } = {},
  ): Promise<number> =>
    new Promise((resolve_, reject) => {
      const headers = { 'content-type': 'application/json' };
      const options = { rejectUnauthorized: false, agent: false as const, method, headers, ...keys };
      const sent = request(`${endpoint}/api/v1/namespaces${path}`, options, (response) => {
        response.resume();
        resolve_(response.statusCode!);
      });
      sent.once('error', reject);
      sent.end(body);
    });

  it('no pair of one is good for API server, store or tunnel of the other', async () => {
    const names = readdirSync(pki(a, '.')).filter((file) => file.endsWith('.crt') && existsSync(pki(a, file.replace('.crt', '.key'))));
    expect(names.length).toBeGreaterThanOrEqual(14);
    const own: string[] = [];
    for (const name of names) {
      const keys = { cert: readFileSync(pki(a, name)), key: readFileSync(pki(a, name.replace('.crt', '.key'))) };
      expect([name, 'etcd of b', await etcdTakes(b, keys)]).toEqual([name, 'etcd of b', false]);
      expect([name, 'tunnel of b', await tunnelTakes(runningB, keys)]).toEqual([name, 'tunnel of b', false]);
      expect([name, await apiStatus(runningB, keys)]).toEqual([name, 401]);
      if (await etcdTakes(a, keys)) own.push(`${name} at etcd`);
      if (await tunnelTakes(runningA, keys)) own.push(`${name} at the tunnel`);
    }
    expect(own).toContain('apiserver-etcd-client.crt at etcd');
    expect(own).toContain('owner-0.crt at the tunnel');
    // Inside one cluster, too, a certificate of the API is none of the store.
    expect(own.filter((what) => what.endsWith('at etcd')).every((what) => what.includes('etcd'))).toBe(true);
  });

  it('all programs have the user of their cluster', () => {
    const { user, process: supervisor } = record(a);
    expect(user).not.toBe(record(b).user);
    const children = childrenOf(a);
    expect([...children.keys()].map((name) => PROGRAMS.find((program) => name.startsWith(program))).sort(byName)).toEqual(PROGRAMS);
    for (const pid of [supervisor!.pid, ...children.values()]) expect(statSync(`/proc/${pid}`).uid).toBe(user);
  });

  /** Whether a TCP connection opens from where a process is. */
  const opens = (pid: number, host: string, port: number): Promise<boolean> => {
    const program = `const s = require('net').connect(${port}, '${host}', () => process.exit(0)); s.on('error', () => process.exit(1)); setTimeout(() => process.exit(1), 1500)`;
    const child = spawn('nsenter', [`--target=${pid}`, '--net', process.execPath, '-e', program], { stdio: 'ignore' });
    return new Promise((resolve_) => void child.once('exit', (code) => resolve_(code === 0)));
  };
  const hostOf = ({ endpoint }: RunningControlPlane) => new URL(endpoint).hostname;

  it('a control plane reaches itself and nobody else; others reach its API server and its tunnel, and nothing else', async () => {
    const [{ port, tunnelPort, innerPorts, process: supervisor }, host] = [record(b), hostOf(runningB)];
    const machine = process.pid;
    const insideA = record(a).process!.pid;
    expect({
      ownApi: await opens(supervisor!.pid, '127.0.0.1', port),
      ownHealth: await opens(supervisor!.pid, '127.0.0.1', innerPorts![1]),
      machineToApi: await opens(machine, host, port),
      machineToTunnel: await opens(machine, host, tunnelPort!),
      machineToHealth: await opens(machine, host, innerPorts![1]),
      otherToApi: await opens(insideA, host, port),
      toMachine: await opens(insideA, TENANT_ADDRESS, 22),
    }).toEqual({
      ownApi: true,
      ownHealth: true,
      machineToApi: true,
      machineToTunnel: true,
      machineToHealth: false,
      otherToApi: false,
      toMachine: false,
    });
  });

  it('one that is given an address is reached at it, by its tenant and by the machine', async () => {
    runningA = await planes.run({ ...a, address: TENANT_ADDRESS });
    const { port, tunnelPort } = record(a);
    expect(runningA.endpoint).toBe(`https://${TENANT_ADDRESS}:${port}`);
    expect(runningA.tunnel).toEqual({ address: TENANT_ADDRESS, port: tunnelPort });
    const router = spawn('ip', ['netns', 'exec', ROUTER, 'sleep', '60'], { stdio: 'ignore' });
    try {
      await vi.waitUntil(() => router.pid !== undefined && readFileSync(`/proc/${router.pid}/comm`, 'utf8').includes('sleep'));
      expect({
        machine: await opens(process.pid, TENANT_ADDRESS, port),
        tenant: await opens(router.pid!, TENANT_ADDRESS, port),
        tenantToTunnel: await opens(router.pid!, TENANT_ADDRESS, tunnelPort!),
        aroundTheAddress: await opens(router.pid!, hostOf(runningB), record(b).port),
      }).toEqual({ machine: true, tenant: true, tenantToTunnel: true, aroundTheAddress: false });
    } finally {
      router.kill('SIGKILL');
    }
    // Its certificate is for that address.
    const { owner, authorityPem, endpoint } = runningA;
    const status = await new Promise((resolve_, reject) => {
      const keys = { ca: authorityPem, cert: owner.certificatePem, key: owner.keyPem };
      request(`${endpoint}/version`, keys, (response) => resolve_(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it('reaches nodes through tunnels that they open, and in no other way', async () => {
    const authority = {
      certificate: new X509Certificate(readFileSync(pki(b, 'ca.crt'))),
      key: createPrivateKey(readFileSync(pki(b, 'ca.key'))),
    };
    const files = new KeyFiles(programs);
    const subject = { commonName: 'system:node:n1', organizations: ['system:nodes'] };
    const usages = ['digital signature', 'client auth', 'server auth'];
    const node = await ensureLeaf(files, 'node', authority, Date.now(), {
      subject,
      usages,
      alternativeNames: { dnsNames: ['n1'], addresses: [NODE_ADDRESS] },
    });
    const kubelet = createServer({ cert: node.certificatePem, key: node.keyPem }, (_, response) => void response.end('said by the node'));
    await new Promise<void>((resolve_) => void kubelet.listen(0, '127.0.0.1', resolve_));
    const { port } = kubelet.address() as { port: number };
    const agent = new TunnelAgent({
      server: runningB.tunnel!,
      tls: () => Promise.resolve({ ca: runningB.authorityPem, cert: node.certificatePem, key: node.keyPem }),
      name: 'n1',
      addresses: [NODE_ADDRESS],
      reach: (address) => (address === `${NODE_ADDRESS}:10250` ? { host: '127.0.0.1', port } : undefined),
      clock: realClock,
      random: Math.random,
      log: silentLog,
    });
    const { certificatePem: cert, keyPem: key } = runningB.platform;
    const { endpoint: url, authorityPem: ca } = runningB;
    const target = connectTarget({ name: 'b', url, kubeconfig: '', ca, certificate: { cert, key }, close: () => Promise.resolve() });
    try {
      await target.request('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
      const status = { addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }], daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } } };
      await target.request('PATCH', '/api/v1/nodes/n1/status', { status }, { contentType: 'application/merge-patch+json' });
      const ask = () => target.request('GET', '/api/v1/nodes/n1/proxy/hello');
      expect((await ask()).status).toBeGreaterThanOrEqual(500);
      agent.start();
      await vi.waitUntil(async () => (await ask()).status === 200, { timeout: 30_000, interval: 200 });
    } finally {
      agent.stop();
      kubelet.close();
      await target.close();
    }
  });

  it('kill -9 of any one of the programs is told and repaired, nothing is lost, and the others go on', async () => {
    const keys = { cert: readFileSync(pki(b, 'admin.crt')), key: readFileSync(pki(b, 'admin.key')) };
    const others = childrenOf(a);
    for (const program of PROGRAMS) {
      const before = childrenOf(b);
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `before-${program}` } });
      expect(await apiStatus(runningB, keys, { method: 'POST', body })).toBe(201);
      const [name, pid] = [...before].find(([comm]) => comm.startsWith(program))!;
      const told = new Promise<string>((resolve_) => {
        const stop = planes.onChange((id) => {
          if (id !== b.id) return;
          stop();
          resolve_(id);
        });
      });
      process.kill(pid, 'SIGKILL');
      await told;
      await vi.waitUntil(() => childrenOf(b).has(name) && childrenOf(b).get(name) !== pid, { timeout: 30_000, interval: 50 });
      await vi.waitUntil(async () => (await apiStatus(runningB, keys).catch(() => 0)) === 200, { timeout: 60_000, interval: 100 });
      await vi.waitUntil(async () => (await planes.run(b)).trouble === undefined, { timeout: 60_000, interval: 100 });
    }
    expect(childrenOf(b).size).toBe(PROGRAMS.length);
    for (const program of PROGRAMS) expect(await apiStatus(runningB, keys, { path: `/before-${program}` })).toBe(200);
    expect(childrenOf(a)).toEqual(others);
  });
});
