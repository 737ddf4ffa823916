import { beforeEach, describe, expect, it } from 'vitest';
import type { KernelIsolation } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { MachineError, type Machines, type WantedMachine } from '../machines/machines.ts';
import { keepWorkers, type KeepWorkersPorts } from './keep-workers.ts';
import { machineId, type NodePool } from './model/pool-plan.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');
const RUNNING = { endpoint: 'https://100.64.0.2:21667', authorityPem: 'PEM' } as RunningControlPlane;

/** What a cluster with workers meets, with everything that was asked of it. */
class World {
  now = NOW;
  readonly asked: string[] = [];
  readonly machines = new Map<string, WantedMachine>();
  nodes = new Map<string, { isReady: boolean; heard: number }>();
  podsLeft = 0;
  minimum: KernelIsolation = 'Sandbox';
  chosen: KernelIsolation | undefined;
  token: string | undefined = 'abcdef.0123456789abcdef';
  failure: MachineError | undefined;
  running = RUNNING;
  #names = 0;
  cluster: TenantCluster;

  constructor(pools: NodePool[]) {
    const network = {
      vpc: 'acme',
      subnet: 'default',
      cidr: '10.0.1.0/24',
      gateway: '10.0.1.1',
      address: '100.64.0.2',
      podCidr: '10.128.0.0/16',
    };
    this.cluster = {
      apiVersion: 'tenantry.dev/v1alpha1',
      kind: 'TenantCluster',
      metadata: { name: 'dev', namespace: 'acme', uid: 'u1' },
      spec: { nodePools: pools },
      status: { version: '1.35.4', provider: 'embedded', network },
    };
  }

  get ports(): KeepWorkersPorts {
    const machines = {
      provider: 'tcg',
      isolation: 'Kernel',
      place: (id: string) => (this.asked.push(`place ${id}`), Promise.resolve({ kind: 'Tap', owner: 7 })),
      run: (wanted: WantedMachine) => {
        if (this.failure) return Promise.reject(this.failure);
        this.machines.set(wanted.name, wanted);
        return Promise.resolve({ started: 0 });
      },
      stop: (id: string) => (this.asked.push(`stop ${id}`), Promise.resolve()),
      remove: (id: string) => (this.asked.push(`remove ${id}`), Promise.resolve()),
    } as unknown as Machines;
    return {
      machines: {
        choose: ({ isolation }) => ((this.chosen = isolation), Promise.resolve({ machines })),
        named: () => Promise.resolve(machines),
      },
      inside: {
        node: (name) => this.nodes.get(name),
        token: (worker, isNew) => (this.asked.push(`token ${worker.name} ${isNew ? 'new' : 'held'}`), Promise.resolve(this.token)),
        removeToken: (name) => (this.asked.push(`removeToken ${name}`), Promise.resolve()),
        drain: (name) => (this.asked.push(`drain ${name}`), Promise.resolve(this.podsLeft)),
        removeNode: (name) => (this.nodes.delete(name), this.asked.push(`removeNode ${name}`), Promise.resolve()),
      },
      running: this.running,
      minimumIsolation: this.minimum,
      others: [],
      placeOf: (worker) => {
        const its = this.cluster.status?.workers?.find(({ name }) => name === worker);
        const place = { device: { name: 'tap0' }, mac: its!.mac, address: `${its!.address}/24`, gateway: '10.0.1.1' };
        return Promise.resolve(its?.attachment ? place : undefined);
      },
      now: () => this.now,
      suffix: (length) => String(++this.#names).padStart(length, '0'),
    };
  }

  round() {
    return keepWorkers(this.cluster, this.ports);
  }

  workers() {
    return this.cluster.status?.workers ?? [];
  }

  async untilReady(): Promise<void> {
    for (let round = 0; round < 3; round++) await this.round();
    for (const { name } of this.workers()) this.nodes.set(name, { isReady: true, heard: this.now });
    await this.round();
  }
}

let world: World;
beforeEach(() => {
  world = new World([{ name: 'a', replicas: 1 }]);
});

describe('a new worker', () => {
  it('is written down before anything is made of it', async () => {
    await world.round();
    expect(world.workers()).toEqual([
      expect.objectContaining({
        name: 'dev-a-00001',
        address: '10.0.1.10',
        phase: 'Pending',
        provider: 'tcg',
        isolation: 'Kernel',
        podCidrs: ['10.128.0.0/24'],
      }),
    ]);
    expect(world.asked).toEqual([]);
  });

  it('has a port, then a token, then a machine', async () => {
    await world.round();
    await world.round();
    expect(world.asked).toEqual([`place ${machineId('u1', 'dev-a-00001')}`]);
    expect(world.workers()[0].attachment).toEqual({ kind: 'Tap', owner: 7 });
    expect(await world.round()).toMatchObject({ reason: 'WorkersJoining', message: '0 of 1 workers are ready; dev-a-00001 joins' });
    expect(world.asked.at(-1)).toBe('token dev-a-00001 new');
    expect(world.machines.get('dev-a-00001')).toMatchObject({
      cpus: 1,
      memoryBytes: 512 * 1024 * 1024,
      network: { address: '10.0.1.10/24', gateway: '10.0.1.1', dns: [] },
      join: { server: RUNNING.endpoint, token: world.token, tunnel: { address: '100.64.0.2', port: 21_667 } },
      settings: { 'service-range': '10.0.0.0/24', 'pod-range': '10.128.0.0/24' },
    });
  });

  it('is ready with its node, and its token goes', async () => {
    await world.untilReady();
    expect(world.workers()[0].phase).toBe('Ready');
    expect(world.asked.at(-1)).toBe('removeToken dev-a-00001');
    expect(await world.round()).toEqual({ type: 'done', reason: 'Ready', message: '1, kernel isolation Kernel (tcg)' });
    expect(world.machines.get('dev-a-00001')!.join.token).toBe('');
  });

  it('that did not join in time is removed, and another one is tried', async () => {
    for (let round = 0; round < 3; round++) await world.round();
    world.token = undefined;
    await world.round();
    expect(world.workers()).toEqual([]);
    expect(world.asked).toContain(`remove ${machineId('u1', 'dev-a-00001')}`);
    await world.round();
    expect(world.workers()[0].name).toBe('dev-a-00002');
  });
});

it.each([
  ['Sandbox', 'Kernel', 'Kernel'],
  ['Kernel', 'Sandbox', 'Kernel'],
  [undefined, 'Kernel', 'Kernel'],
  ['Sandbox', 'Sandbox', 'Sandbox'],
] as const)('a pool with isolation %s has machines no weaker than policies want today: %s', async (kernelIsolation, minimum, expected) => {
  world = new World([{ name: 'a', replicas: 1, kernelIsolation }]);
  world.minimum = minimum;
  await world.round();
  expect(world.chosen).toBe(expected);
});

it('what keeps a machine from running is told, and tried again', async () => {
  for (let round = 0; round < 2; round++) await world.round();
  world.failure = new MachineError('the disk is full', { afterMs: 500 });
  expect(await world.round()).toEqual({ type: 'waiting', reason: 'MachineFailed', message: 'the disk is full', afterMs: 500 });
  world.failure = undefined;
  await world.untilReady();
  expect(world.workers()[0]).toMatchObject({ phase: 'Ready' });
  expect(world.workers()[0].message).toBeUndefined();
});

describe('a worker that goes', () => {
  beforeEach(async () => {
    await world.untilReady();
    world.cluster = { ...world.cluster, spec: { nodePools: [{ name: 'a', replicas: 0 }] } };
    world.asked.length = 0;
  });

  it('is told so before its Pods are', async () => {
    await world.round();
    expect(world.workers()[0].phase).toBe('Leaving');
    expect(world.asked).toEqual([]);
  });

  it('waits for its Pods', async () => {
    world.podsLeft = 2;
    await world.round();
    expect(await world.round()).toMatchObject({ reason: 'WorkersLeaving', message: 'dev-a-00001 leaves: 2 Pods have yet to go' });
    world.podsLeft = 0;
    expect(await world.round()).toMatchObject({ type: 'done' });
    expect(world.asked.slice(-3)).toEqual(['drain dev-a-00001', `remove ${machineId('u1', 'dev-a-00001')}`, 'removeNode dev-a-00001']);
    expect(world.workers()).toEqual([]);
  });

  it('does not wait for ever', async () => {
    world.podsLeft = 1;
    await world.round();
    world.now += 5 * 60_000 + 1;
    await world.round();
    expect(world.workers()).toEqual([]);
  });
});

it('a worker whose node says nothing is replaced after a while', async () => {
  await world.untilReady();
  world.nodes.set('dev-a-00001', { isReady: false, heard: 0 });
  await world.round();
  expect(world.workers()[0].phase).toBe('Failed');
  world.now += 5 * 60_000 + 1;
  await world.round();
  expect(world.workers()[0].phase).toBe('Leaving');
  await world.round();
  expect(world.workers().map(({ name, phase }) => `${name} ${phase}`)).toEqual(['dev-a-00002 Pending']);
});

it('a worker that slept is ready when it says so again', async () => {
  await world.untilReady();
  const [worker] = world.workers();
  world.cluster.status!.workers = [{ ...worker, phase: 'Asleep', since: new Date(NOW + 1000).toISOString() }];
  await world.round();
  expect(world.workers()[0]).toMatchObject({ phase: 'Asleep', message: 'it wakes up' });
  world.nodes.set('dev-a-00001', { isReady: true, heard: NOW + 5000 });
  await world.round();
  expect(world.workers()[0].phase).toBe('Ready');
  expect(world.workers()[0].waking).toBeUndefined();
});

it.each([
  ['says nothing', undefined],
  ['has no machine', new MachineError('the disk is full')],
])('a worker that slept and %s is replaced after as long as one has to join', async (_name, failure) => {
  await world.untilReady();
  const [worker] = world.workers();
  world.cluster.status!.workers = [{ ...worker, phase: 'Asleep', since: new Date(NOW).toISOString() }];
  world.failure = failure;
  world.now += 24 * 60 * 60_000;
  await world.round();
  expect(world.workers()[0]).toMatchObject({ phase: 'Asleep', waking: '2026-11-16T00:00:00Z' });
  world.now += 15 * 60_000;
  await world.round();
  expect(world.workers()[0]).toMatchObject({ phase: 'Asleep', waking: '2026-11-16T00:00:00Z' });
  world.now += 1;
  await world.round();
  expect(world.workers()[0]).toMatchObject({ phase: 'Leaving', message: 'it did not wake up in time' });
  world.now += 5 * 60_000 + 1;
  await world.round();
  expect(world.workers().map(({ name, phase }) => `${name} ${phase}`)).toEqual(['dev-a-00002 Pending']);
});

it('an upgrade replaces workers one at a time', async () => {
  world = new World([{ name: 'a', replicas: 2 }]);
  await world.untilReady();
  world.cluster.status!.version = '1.36.1';
  await world.round();
  expect(world.workers().map(({ phase }) => phase)).toEqual(['Leaving', 'Ready']);
  await world.round();
  expect(world.workers().map(({ name, phase }) => `${name} ${phase}`)).toEqual(['dev-a-00002 Ready', 'dev-a-00003 Pending']);
});

describe('when the clock is put', () => {
  const HOUR_MS = 3_600_000;

  it.each([
    ['back', -24 * HOUR_MS],
    ['ahead', 24 * HOUR_MS],
  ])('%s by a day, a worker that is ready stays', async (_name, ms) => {
    await world.untilReady();
    world.now += ms;
    expect((await world.round()).type).toBe('done');
    expect(world.workers()).toMatchObject([{ name: 'dev-a-00001', phase: 'Ready' }]);
  });

  it('back, one whose Pods do not go has its five minutes, and no more', async () => {
    await world.untilReady();
    world.podsLeft = 1;
    world.cluster.spec.nodePools = [];
    await world.round();
    world.now -= HOUR_MS;
    await world.round();
    expect(world.workers()).toMatchObject([{ phase: 'Leaving', message: 'one Pod has yet to go' }]);
    world.now += 5 * 60_000 + 1;
    await world.round();
    expect(world.workers()).toEqual([]);
  });

  it('back, one that slept is ready when it says so', async () => {
    await world.untilReady();
    const [worker] = world.workers();
    world.nodes.clear();
    world.cluster.status!.workers = [{ ...worker, phase: 'Asleep', since: new Date(NOW).toISOString() }];
    world.now -= HOUR_MS;
    await world.round();
    world.nodes.set('dev-a-00001', { isReady: true, heard: world.now + 1000 });
    await world.round();
    expect(world.workers()).toMatchObject([{ name: 'dev-a-00001', phase: 'Ready' }]);
  });
});

describe('a worker whose authorities are revoked', () => {
  const revoked = { edition: 2, begins: 0, ends: NOW * 2, oldestTrusted: 2, forgotten: NOW + 1000, isCleanCut: false };
  const withAuthorities = (authorities: RunningControlPlane['authorities']) => ({ ...RUNNING, authorities });
  const name = 'dev-a-00001';

  beforeEach(async () => {
    world.running = withAuthorities({ edition: 1, begins: 0, ends: NOW * 2, oldestTrusted: 1, isCleanCut: false });
    await world.untilReady();
    world.asked.length = 0;
    world.now = NOW + 60_000;
    world.running = withAuthorities(revoked);
  });

  it('joins again with a token, as who it was', async () => {
    world.nodes.set(name, { isReady: false, heard: NOW });
    await world.round();
    expect(world.workers()).toEqual([expect.objectContaining({ name, phase: 'Pending', authorities: 2, rejoins: true })]);
    expect(world.asked).toEqual([`stop ${machineId('u1', name)}`, `removeToken ${name}`]);
    await world.round();
    expect(world.asked.at(-1)).toBe(`token ${name} new`);
    expect(world.machines.get(name)?.join.token).toBe(world.token);
    // What its Node says is of before.
    world.nodes.set(name, { isReady: true, heard: NOW });
    await world.round();
    expect(world.workers()[0].phase).toBe('Joining');
    world.nodes.set(name, { isReady: true, heard: NOW + 120_000 });
    await world.round();
    expect(world.workers()[0]).toMatchObject({ name, phase: 'Ready', authorities: 2 });
    expect(world.workers()[0]).not.toHaveProperty('rejoins');
  });

  it('joins again at once, when it cannot have others', async () => {
    world.running = withAuthorities({ ...revoked, isCleanCut: true });
    await world.round();
    expect(world.workers()[0]).toMatchObject({ phase: 'Pending', authorities: 2, rejoins: true });
  });

  it('is left alone when it speaks on, with certificates of later ones', async () => {
    world.nodes.set(name, { isReady: true, heard: NOW + 30_000 });
    await world.round();
    expect(world.workers()[0]).toMatchObject({ phase: 'Ready', authorities: 2 });
    expect(world.asked).toEqual([]);
  });

  it('is not taken for one of now by what it said before', async () => {
    world.nodes.set(name, { isReady: true, heard: NOW });
    await world.round();
    expect(world.workers()[0]).toMatchObject({ phase: 'Ready', authorities: 1 });
  });
});
