import { describe, expect, it } from 'vitest';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { findCondition } from '../../../kube/conditions.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { workloadNameOf } from '../installation/model/plugin-names.ts';
import { targetOf, type Target } from '../installation/model/target.ts';
import type { Place } from './model/choose-place.ts';
import { placeChosen } from './place-chosen.step.ts';
import { requestsPlaced, type RequestsPlacedPorts } from './requests-placed.step.ts';

type Status = NonNullable<PluginInstallation['status']>;
const IMAGE = 'r/x@sha256:a';
const CONTEXT = { signal: new AbortController().signal, now: () => 0 };
const CLUSTER: Place = { in: 'cluster', cluster: 'acme', isReachable: true };
const ROUTED: Status = { gateway: { routes: [{ version: '1.0.0', workload: workloadNameOf('1.0.0'), weight: 100 }] } };

function anInstallation(status: Status, spec: object = {}): PluginInstallation {
  const metadata = { name: 'hello', namespace: 'acme', generation: 1 };
  return { metadata, spec: { publisher: 'p', plugin: 'hello', ...spec }, status: structuredClone(status) } as PluginInstallation;
}

function aTarget(installation: PluginInstallation, version = '1.0.0'): Target {
  const manifest = { spec: { runtime: { startupProbe: { port: 8080, path: '/' } } } };
  const found = { metadata: { name: version }, spec: { version, manifest }, status: { image: IMAGE } };
  return targetOf(installation, found as never, installation.spec.suspended === true);
}

const aDeployment = (available: number, image = IMAGE): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { generation: 1 },
  spec: { replicas: 1, template: { spec: { containers: [{ image }] } } },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: available },
});
const aPod = (name: string, ready = 'True', metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});

describe('requestsPlaced', () => {
  const run = (
    installation: PluginInstallation,
    place: Place,
    at: Partial<Record<'host' | 'cluster', KubeObject>>,
    pods: KubeObject[] = [],
  ) => {
    const ports: RequestsPlacedPorts = {
      placeOf: () => place,
      target: aTarget,
      versions: (each) => [aTarget(each)],
      workloadAt: (where) => ({ deployment: at[where], restarts: 0, pods: where === 'cluster' ? pods : [] }),
    };
    return requestsPlaced(ports).run(installation, CONTEXT);
  };
  const endpoints = (...pods: string[]) => [{ workload: 'plugin-1-0-0', port: 8080, pods }];

  it('leaves requests where they are while the other place does not answer, and says so', async () => {
    const installation = anInstallation(ROUTED);
    expect(await run(installation, CLUSTER, { host: aDeployment(1), cluster: aDeployment(0) })).toMatchObject({
      type: 'done',
      reason: 'Moving',
    });
    expect(installation.status).not.toHaveProperty('placement');
    expect(findCondition(installation.status!.conditions, 'Placed')).toMatchObject({
      status: 'False',
      reason: 'Moving',
      message: 'in cluster "acme" it does not answer yet: 1.0.0: 0 of 1 answer',
    });
  });

  it.each<[string, Partial<Record<'host' | 'cluster', KubeObject>>]>([
    ['there is nothing', {}],
    ['it runs another image', { cluster: aDeployment(1, 'evil') }],
    ['it was scaled to zero', { cluster: { ...aDeployment(1), spec: { ...aDeployment(1).spec, replicas: 0 } } }],
  ])('does not take it for an answer that %s there', async (_, at) => {
    const installation = anInstallation(ROUTED);
    expect(await run(installation, CLUSTER, at)).toMatchObject({ reason: 'Moving' });
    expect(installation.status).not.toHaveProperty('placement');
  });

  it('sends them to the cluster once it answers there, to Pods that are ready and stay', async () => {
    const installation = anInstallation(ROUTED);
    const pods = [aPod('b'), aPod('a'), aPod('c', 'False'), aPod('d', 'True', { deletionTimestamp: '2026-01-01T00:00:00Z' })];
    expect(await run(installation, CLUSTER, { cluster: aDeployment(1) }, pods)).toMatchObject({ type: 'waiting', afterMs: 0 });
    expect(installation.status!.placement).toEqual({ cluster: 'acme', endpoints: endpoints('a', 'b') });
  });

  it('keeps no more Pods than there is room for', async () => {
    const installation = anInstallation({ ...ROUTED, placement: { cluster: 'acme' } });
    const pods = Array.from({ length: 100 }, (_, i) => aPod(`p${i}`));
    await run(installation, CLUSTER, { cluster: aDeployment(1) }, pods);
    expect(installation.status!.placement!.endpoints![0].pods).toHaveLength(32);
  });

  it('leaves the Pods of a cluster that does not answer as they were', async () => {
    const placement = { cluster: 'acme', endpoints: endpoints('a') };
    const installation = anInstallation({ ...ROUTED, placement });
    expect(await run(installation, { ...CLUSTER, isReachable: false }, {})).toMatchObject({ type: 'done' });
    expect(installation.status!.placement).toEqual(placement);
  });

  it('brings them back once the host answers', async () => {
    const installation = anInstallation({ ...ROUTED, placement: { cluster: 'acme', endpoints: endpoints('a') } });
    await run(installation, { in: 'host' }, { cluster: aDeployment(1) });
    expect(installation.status!.placement).toBeDefined();
    await run(installation, { in: 'host' }, { host: aDeployment(1) });
    expect(installation.status).not.toHaveProperty('placement');
  });

  it('moves what is suspended at once: nothing of it answers anywhere', async () => {
    const installation = anInstallation(ROUTED, { suspended: true });
    await run(installation, CLUSTER, {});
    expect(installation.status!.placement).toEqual({ cluster: 'acme', endpoints: endpoints() });
  });
});

describe('placeChosen', () => {
  const run = async (status: Status, place: Place, facts: { tenantIn?: string; hasCopies?: boolean } = {}) => {
    const wrote: (string | null)[] = [];
    const installation = anInstallation(status);
    const outcome = await placeChosen({
      target: aTarget,
      placeOf: () => place,
      tenantIn: () => facts.tenantIn,
      hasCopies: () => facts.hasCopies === true,
      setPlace: (_, said) => Promise.resolve(void wrote.push(said)),
    }).run(installation, CONTEXT);
    return { outcome, wrote, placed: findCondition(installation.status!.conditions, 'Placed'), placement: installation.status!.placement };
  };
  const IN = { tenantIn: 'acme' };

  it('begins in the cluster, and says so before anything is made', async () => {
    const { outcome, placement, wrote } = await run({}, CLUSTER, IN);
    expect(outcome).toMatchObject({ type: 'waiting', afterMs: 0 });
    expect([placement, wrote]).toEqual([{ cluster: 'acme', endpoints: [] }, []]);
  });

  it('waits for a cluster that does not answer rather than begin among others', async () => {
    const { outcome } = await run({ placement: { cluster: 'acme' } }, { ...CLUSTER, isReachable: false }, IN);
    expect(outcome).toMatchObject({ type: 'waiting', reason: 'ClusterUnavailable' });
  });

  it('says why it stays on the host', async () => {
    const { outcome, wrote, placed } = await run(ROUTED, { in: 'host', kept: 'why' }, IN);
    expect(outcome).toMatchObject({ type: 'done', reason: 'KeptOnHost' });
    expect([wrote, placed?.message]).toEqual([['kept-from:acme'], 'it stays on the host: why']);
  });

  it('says nothing where there is nothing to choose', async () => {
    const { outcome, wrote, placed } = await run(ROUTED, { in: 'host' });
    expect([outcome.type, wrote, placed]).toEqual(['done', [null], undefined]);
  });

  it('is in the cluster as long as requests go there, or Pods end there', async () => {
    const there = { ...ROUTED, placement: { cluster: 'acme' } };
    expect((await run(there, CLUSTER, IN)).wrote).toEqual(['acme']);
    expect((await run(there, { in: 'host' })).wrote).toEqual(['acme']);
    expect((await run(ROUTED, { in: 'host' }, { hasCopies: true })).wrote).toEqual([]);
    expect((await run(ROUTED, { in: 'host' })).wrote).toEqual([null]);
  });
});
