import { describe, expect, test } from 'vitest';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import { Lease, Node } from '../../../client/kinds.ts';
import { failure } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { nodeConditions, nodeMetadata, nodeStatus, type NodeDescription, type NodeHealth } from './describe-node.ts';
import { machineAddress, type MachineFacts, type MachineState } from './machine-facts.ts';
import { LEASE_NAMESPACE, NodeRegistrar } from './node-registrar.ts';
import { evictionOrder, NO_PRESSURE, pressureOf, type Evictable } from './pressure.ts';

const machine: MachineFacts = {
  hostname: 'box',
  os: 'linux',
  architecture: 'amd64',
  cores: 4,
  memoryBytes: 8 * 1024 ** 3,
  kernel: '6.1.0',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  machineId: 'm',
  bootId: 'b',
  address: '192.0.2.7',
};
const node: NodeDescription = {
  name: 'box',
  machine,
  diskBytes: 1024 ** 4,
  volumeFolder: '/data/node/volumes',
  serverAddress: '127.0.0.1',
  version: '0.1.0',
  resources: { 'example.com/gpu': '4' },
  runtime: 'runc://1.1.5',
  serverPort: 10250,
  images: [
    { names: ['small'], digest: 'sha256:1', sizeBytes: 1 },
    { names: ['large'], digest: 'sha256:2', sizeBytes: 2 },
  ],
};
const health: NodeHealth = {
  pressure: NO_PRESSURE,
  policies: { status: false, reason: 'NotRoot', message: 'Pods share the network' },
  missingIsolation: [],
};

describe('what a node says', () => {
  test('of itself', () => {
    expect(nodeMetadata(node)).toMatchObject({
      name: 'box',
      labels: { 'kubernetes.io/hostname': 'box', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      annotations: { 'tenantry.dev/volume-folder': '/data/node/volumes' },
    });
    const status = nodeStatus(node);
    expect(status.capacity).toEqual(status.allocatable);
    expect(status.capacity).toMatchObject({
      cpu: '4',
      memory: '8388608Ki',
      'ephemeral-storage': '1073741824Ki',
      pods: '250',
      'example.com/gpu': '4',
    });
    expect(status.addresses).toEqual([
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'ExternalIP', address: '192.0.2.7' },
      { type: 'Hostname', address: 'box' },
    ]);
    expect(status.daemonEndpoints).toEqual({ kubeletEndpoint: { Port: 10250 } });
    expect(status.nodeInfo).toMatchObject({ kubeletVersion: 'v1.35.4+tenantry-0.1.0', containerRuntimeVersion: 'runc://1.1.5' });
    expect(status.images!.map(({ names }) => names![0])).toEqual(['large', 'small']);
  });

  test.each([
    ['MemoryPressure', { memory: true }, 'True', 'KubeletHasInsufficientMemory'],
    ['DiskPressure', { disk: true }, 'True', 'KubeletHasDiskPressure'],
    ['PIDPressure', { processes: true }, 'True', 'KubeletHasInsufficientPID'],
    ['MemoryPressure', {}, 'False', 'KubeletHasSufficientMemory'],
    ['NetworkPolicyEnforced', {}, 'False', 'NotRoot'],
    ['Ready', { disk: true }, 'True', 'KubeletReady'],
  ])('%s with %j is %s', (type, pressure, status, reason) => {
    const conditions = nodeConditions({ ...health, pressure: { ...NO_PRESSURE, ...pressure } }, [], new Date(0));
    expect(conditions.find((condition) => condition.type === type)).toMatchObject({ status, reason });
  });

  test('since when', () => {
    const before = nodeConditions(health, [], new Date(0));
    const after = nodeConditions({ ...health, pressure: { ...NO_PRESSURE, disk: true } }, before, new Date(60_000));
    const time = (type: string) => after.find((condition) => condition.type === type)?.lastTransitionTime;
    expect([time('Ready'), time('DiskPressure')]).toEqual(['1970-01-01T00:00:00Z', '1970-01-01T00:01:00Z']);
  });

  test.each([
    [
      'the address of a network card',
      [
        ['lo', '127.0.0.1', true],
        ['eth0', '192.0.2.7', false],
      ],
      '192.0.2.7',
    ],
    [
      'an address that was given, not made up',
      [
        ['eth0', '169.254.1.1', false],
        ['eth1', '192.0.2.8', false],
      ],
      '192.0.2.8',
    ],
    [
      'IPv4 before IPv6',
      [
        ['eth0', '2001:db8::1', false],
        ['eth0', '192.0.2.7', false],
      ],
      '192.0.2.7',
    ],
    ['loopback when there is nothing else', [['lo', '127.0.0.1', true]], '127.0.0.1'],
  ] as [string, [string, string, boolean][], string][])('where: %s', (_name, cards, address) => {
    const interfaces: Record<string, unknown[]> = {};
    for (const [card, ip, internal] of cards)
      (interfaces[card] ??= []).push({ address: ip, internal, family: ip.includes(':') ? 'IPv6' : 'IPv4' });
    expect(machineAddress(interfaces as never)).toBe(address);
  });
});

describe('pressure', () => {
  const GIB = 1024 ** 3;
  const state = (more: { free?: number; total?: number; memory?: number; running?: number; freeInodes?: number }): MachineState => ({
    disk: { totalBytes: more.total ?? 100 * GIB, freeBytes: more.free ?? 50 * GIB, inodes: 1000, freeInodes: more.freeInodes ?? 900 },
    memoryAvailableBytes: more.memory ?? GIB,
    processes: { running: more.running ?? 100, most: 32_768 },
  });
  test.each([
    ['plenty of all', state({}), NO_PRESSURE, NO_PRESSURE],
    ['little disk, but enough on a large one', state({ total: 1000 * GIB, free: 50 * GIB }), NO_PRESSURE, NO_PRESSURE],
    ['less than two GiB of disk', state({ free: GIB }), NO_PRESSURE, { ...NO_PRESSURE, disk: true }],
    ['a tenth of a small disk', state({ total: 10 * GIB, free: 0.9 * GIB }), NO_PRESSURE, { ...NO_PRESSURE, disk: true }],
    ['hardly an inode', state({ freeInodes: 20 }), NO_PRESSURE, { ...NO_PRESSURE, disk: true }],
    ['hardly any memory', state({ memory: 50 * 1024 ** 2 }), NO_PRESSURE, { ...NO_PRESSURE, memory: true }],
    ['a little more disk is no relief yet', state({ free: 2.2 * GIB }), { ...NO_PRESSURE, disk: true }, { ...NO_PRESSURE, disk: true }],
    ['much more disk is', state({ free: 3 * GIB }), { ...NO_PRESSURE, disk: true }, NO_PRESSURE],
    ['too many processes', state({ running: 30_000 }), NO_PRESSURE, { ...NO_PRESSURE, processes: true }],
  ])('%s', (_name, now, before, expected) => {
    expect(pressureOf(now, before)).toEqual(expected);
  });

  test('the least important goes first, then who was promised least, then the youngest', () => {
    const pod = (uid: string, more: Partial<Evictable>): Evictable => ({
      uid,
      priority: 0,
      qosClass: 'Burstable',
      critical: false,
      startedAt: 0,
      ...more,
    });
    const order = evictionOrder([
      pod('system', { critical: true, priority: -5 }),
      pod('important', { priority: 10 }),
      pod('guaranteed', { qosClass: 'Guaranteed' }),
      pod('old', { startedAt: 1 }),
      pod('young', { startedAt: 2 }),
      pod('best-effort', { qosClass: 'BestEffort' }),
      pod('unimportant', { priority: -1, qosClass: 'Guaranteed' }),
    ]);
    expect(order.map(({ uid }) => uid)).toEqual(['unimportant', 'best-effort', 'young', 'old', 'guaranteed', 'important']);
  });
});

describe('NodeRegistrar', () => {
  function aRegistrar() {
    const clock = new FakeClock();
    const api = new FakeApi();
    api.now = () => clock.now();
    const client = createClient(createInMemoryTransport(api.handler), { clock });
    const said = { node, health };
    const registrar = new NodeRegistrar({ client, clock, log: silentLog, describe: () => Promise.resolve(said) });
    const writes = () => api.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
    return { clock, api, client, said, registrar, writes };
  }

  test('makes the Node and its Lease', async () => {
    const { client, registrar } = aRegistrar();
    await registrar.start();
    const made = await client.resource(Node).get('box');
    expect(made.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect((await client.resource(Lease, LEASE_NAMESPACE).get('box')).spec).toMatchObject({
      holderIdentity: 'box',
      leaseDurationSeconds: 40,
    });
    registrar.stop();
  });

  test('renews the Lease and says nothing else as long as nothing changes', async () => {
    const { clock, registrar, writes, api } = aRegistrar();
    await registrar.start();
    api.requests.length = 0;
    await clock.advance(30_000);
    expect(writes()).toEqual(Array(3).fill(`PATCH /apis/coordination.k8s.io/v1/namespaces/${LEASE_NAMESPACE}/leases/box`));
    await clock.advance(280_000);
    expect(writes().filter((write) => write.endsWith('/nodes/box/status'))).toHaveLength(1);
    registrar.stop();
  });

  test('tells what changed', async () => {
    const { client, registrar, said } = aRegistrar();
    await registrar.start();
    said.health = { ...health, pressure: { ...NO_PRESSURE, disk: true } };
    await registrar.changed();
    const { status } = await client.resource(Node).get('box');
    expect(status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status).toBe('True');
    registrar.stop();
  });

  test('makes the Node again when somebody took it away', async () => {
    const { clock, client, registrar, said } = aRegistrar();
    await registrar.start();
    await client.resource(Node).delete('box');
    said.node = { ...node, serverPort: 1 };
    await clock.advance(20_000);
    expect((await client.resource(Node).get('box')).status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(1);
    registrar.stop();
  });

  test('goes on when nobody listens, and tells later', async () => {
    const { clock, api, client, registrar } = aRegistrar();
    api.intercept = () => {
      throw failure('ServiceUnavailable', 'not now');
    };
    const started = registrar.start();
    await clock.advance(60_000);
    await started;
    api.intercept = () => {};
    await clock.advance(60_000);
    expect((await client.resource(Node).get('box')).metadata.name).toBe('box');
    registrar.stop();
  });

  test('says nothing after its stop', async () => {
    const { clock, registrar, api } = aRegistrar();
    await registrar.start();
    registrar.stop();
    api.requests.length = 0;
    await clock.advance(600_000);
    expect(api.requests).toEqual([]);
  });
});
