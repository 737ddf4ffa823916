import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { leaveCluster, ownCluster, type OwnClusterPorts } from './own-cluster.ts';

type Status = NonNullable<TenantCluster['status']>;
const READY = { type: 'Ready', status: 'True', reason: 'Done', message: '', lastTransitionTime: '' } as const;

function aTenant(isolation: string | undefined, spec: Tenant['spec'] = {}): Tenant {
  const status = { ...(isolation !== undefined && { isolation }), conditions: [] };
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme' },
    spec: { isolation: 'Cluster', ...spec },
    status,
  };
}

function aCluster(spec: TenantCluster['spec'], status: Status = {}, metadata: object = {}): TenantCluster {
  const full = { observedGeneration: 1, ...status };
  return {
    apiVersion: 'v1',
    kind: 'TenantCluster',
    metadata: { name: 'acme', namespace: 'acme', generation: 1, ...metadata },
    spec,
    status: full,
  };
}

const PLACED = { placement: { namespaces: ['acme'] } };
const ready = (phase?: string, left = 0): Status => ({
  conditions: [READY],
  ...(phase !== undefined && { placement: { phase, left, observedGeneration: 1 } }),
});

/** What is written, in order. */
function ports(cluster: TenantCluster | string | undefined, served = true, places: (string | undefined)[] = []) {
  const wrote: string[] = [];
  const existing = typeof cluster === 'string' ? undefined : cluster;
  const all: OwnClusterPorts = {
    clusters: {
      areServed: served,
      of: () => Promise.resolve(existing),
      ensure: () => Promise.resolve(typeof cluster === 'string' ? { refused: cluster } : { cluster: existing! }),
      withoutWorkers: () => Promise.resolve(void wrote.push('without workers')),
      place: ({ spec }, namespaces) => {
        if (JSON.stringify(spec.placement?.namespaces) === JSON.stringify(namespaces)) return Promise.resolve(undefined);
        wrote.push(`place ${namespaces.join()}`);
        return Promise.resolve(existing);
      },
      remove: () => Promise.resolve(void wrote.push('remove')),
    },
    pods: { isPinned: () => false, ownNodes: () => [] } as unknown as OwnClusterPorts['pods'],
    namespaces: {
      toPlace: () => ['acme'],
      ofPlugins: () => places.map((place, i) => ({ namespace: `plugin-${i}`, place })),
      setPlaced: (_, name) => Promise.resolve(void wrote.push(`label ${name}`)),
    },
  };
  return { all, wrote };
}

describe('ownCluster', () => {
  it.each<[string, Tenant, Parameters<typeof ports>, string, string, string[]]>([
    ['nobody makes clusters', aTenant('Namespace'), [undefined, false], 'stalled', 'nobody makes tenant clusters here', []],
    ['the cluster is refused', aTenant('Namespace'), ['no policy'], 'waiting', 'no policy', []],
    ['it is not ready yet', aTenant('Namespace'), [aCluster({})], 'waiting', 'cluster "acme": it is being made', []],
    ['a new tenant begins nowhere else meanwhile', aTenant(undefined), [aCluster({})], 'waiting', 'it is being made', ['label acme']],
    ['it is ready', aTenant('Namespace'), [aCluster({}, ready())], 'waiting', 'copies of what its Runs need', ['label acme', 'place acme']],
    [
      'Runs end on the host',
      aTenant('Namespace'),
      [aCluster(PLACED, ready('Placing', 3))],
      'waiting',
      '3 Runs have yet to end on the host',
      ['label acme'],
    ],
    [
      'an answer is of an older question',
      aTenant('Namespace'),
      [aCluster(PLACED, ready('Placed'), { generation: 2 })],
      'waiting',
      'copies of',
      ['label acme'],
    ],
    [
      'all is placed',
      aTenant('Namespace'),
      [aCluster(PLACED, ready('Placed'))],
      'done',
      'which has no worker: its Pods wait for one',
      ['label acme'],
    ],
    [
      'plugins have yet to come',
      aTenant('Namespace'),
      [aCluster(PLACED, ready('Placed')), true, ['acme', undefined, 'kept-from:acme', 'kept-from:former']],
      'waiting',
      'plugins have yet to answer in cluster "acme": plugin-1, plugin-3',
      ['label acme'],
    ],
    [
      'plugins have come, but for those that cannot',
      aTenant('Namespace'),
      [aCluster(PLACED, ready('Placed')), true, ['acme', 'kept-from:acme']],
      'done',
      'plugins are on the host: plugin-1',
      ['label acme'],
    ],
    [
      'a plugin is installed later',
      aTenant('Cluster'),
      [aCluster(PLACED, ready('Placed')), true, [undefined]],
      'done',
      'plugins are on the host: plugin-0',
      ['label acme'],
    ],
    [
      'all plugins have come',
      aTenant('Namespace'),
      [aCluster(PLACED, ready('Placed')), true, ['acme']],
      'done',
      'its plugins are there too',
      ['label acme'],
    ],
    ['a former one goes', aTenant('Namespace'), [aCluster({}, {}, { deletionTimestamp: 'x' })], 'waiting', 'on its way out', []],
    [
      'there are no machines',
      aTenant('Namespace'),
      [
        aCluster(
          { nodePools: [{ name: 'workers', replicas: 1 }] },
          { conditions: [{ type: 'WorkersReady', status: 'False', reason: 'NoMachines', message: 'none boots', lastTransitionTime: '' }] },
        ),
      ],
      'waiting',
      'is made without workers: none boots',
      ['without workers'],
    ],
    [
      'it sleeps with its tenant',
      aTenant('Cluster'),
      [aCluster(PLACED, { conditions: [{ ...READY, status: 'False', message: 'it sleeps' }] })],
      'waiting',
      'cluster "acme": it sleeps',
      ['label acme'],
    ],
  ])('when %s', async (_when, tenant, given, type, message, wrote) => {
    const world = ports(...given);
    const outcome = await ownCluster(world.all).settle(tenant, 0);
    expect(outcome).toMatchObject({ type, message: expect.stringContaining(message) });
    expect(world.wrote).toEqual(wrote);
    expect(tenant.status?.isolation === 'Cluster').toBe(type === 'done' || _when.startsWith('it sleeps'));
  });
});

describe('leaveCluster', () => {
  const EMPTY = { placement: { namespaces: [] } };
  it('when plugins answer in it', async () => {
    const world = ports(aCluster(EMPTY, ready('Empty')), true, ['acme', undefined, 'kept-from:acme']);
    const outcome = await leaveCluster(aTenant('Cluster', { isolation: 'Namespace' }), 0, world.all);
    expect(outcome).toMatchObject({ type: 'waiting', message: 'plugins have yet to answer on the host: plugin-0' });
    expect(world.wrote).toEqual(['label null']);
  });

  it.each<[string, TenantCluster | undefined, string | undefined, string[]]>([
    ['there is none', undefined, undefined, ['label null']],
    ['it has yet to hear of it', aCluster(PLACED, ready('Placed')), 'copies of', ['label null', 'place ']],
    ['Runs end in it', aCluster(EMPTY, ready('Draining', 1)), 'one Run has yet to end in cluster "acme"', ['label null']],
    ['it says so of an older question', aCluster(EMPTY, ready('Empty'), { generation: 2 }), 'copies of', ['label null']],
    ['it is empty', aCluster(EMPTY, ready('Empty')), 'on its way out', ['label null', 'remove']],
    ['nothing was ever placed in it', aCluster({}), 'on its way out', ['label null', 'remove']],
    ['it goes', aCluster(EMPTY, {}, { deletionTimestamp: 'x' }), 'on its way out', ['label null']],
  ])('when %s', async (_when, cluster, message, wrote) => {
    const world = ports(cluster);
    const outcome = await leaveCluster(aTenant('Cluster', { isolation: 'Namespace' }), 0, world.all);
    if (message === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatchObject({ type: 'waiting', message: expect.stringContaining(message) });
    expect(world.wrote).toEqual(wrote);
  });
});
