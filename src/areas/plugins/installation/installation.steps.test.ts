import { describe, expect, test } from 'vitest';
import { pluginInstallationDefinition, type PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationCondition } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import type { Kind } from '../../../kube/kind.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { runSteps } from '../../../runtime/steps/run-steps.ts';
import { DatabaseUnavailable } from '../database/platform-database.ts';
import { workloadNameOf } from './model/plugin-names.ts';
import { targetOf, versionsAtWork } from './model/target.ts';
import { installationSteps, type InstallationPorts } from './installation.steps.ts';

const IMAGE = `r/x@sha256:${'a'.repeat(64)}`;
const SINCE = '2026-01-01T00:00:00Z';

type Status = NonNullable<PluginInstallation['status']>;

function published(version: string, phase = 'VERIFIED', spec: object = {}): PluginVersion {
  const amounts = { cpu: '1', memory: '1Gi' };
  const runtime = { image: 'r/x', startupProbe: { port: 80, path: '/' }, resources: { requests: amounts, limits: amounts } };
  return {
    metadata: { name: `acme.hello.${version}`, uid: version },
    spec: { publisher: 'acme', plugin: 'hello', version, manifest: { metadata: {}, spec: { runtime, ...spec } } },
    status: { phase, observedGeneration: 1, image: IMAGE, conditions: [] },
  } as never;
}

const route = (version: string, weight: number) => ({ version, workload: workloadNameOf(version), weight });

function installed(spec: object, status: Partial<Status>): PluginInstallation {
  const known = { version: '1.0.0', namespace: 'plugin-school-hello', identity: 's', history: [{ version: '1.0.0', isKnownGood: true }] };
  return {
    metadata: { name: 'hello', namespace: 'school', generation: 1 },
    spec: { publisher: 'acme', plugin: 'hello', ...spec },
    status: { ...known, ...status },
  } as never;
}

/** 1.1.0 has half of the requests of 1.0.0. */
const atHalf = (spec: object, status: Partial<Status> = {}): PluginInstallation =>
  installed(spec, {
    target: { version: '1.1.0', step: 0, stepSince: SINCE, isDeployed: true },
    gateway: { revision: 2, routes: [route('1.0.0', 50), route('1.1.0', 50)] },
    ...status,
  });

const deployed = (version: string, replicas = 1): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: workloadNameOf(version), generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1' } },
  spec: { replicas, template: { spec: { containers: [{ image: IMAGE }] } } },
  status: { observedGeneration: 1, updatedReplicas: replicas, availableReplicas: replicas, replicas },
});

/** A world in which everything is there, and what was written down in it. */
class World {
  readonly kept: string[] = [];
  readonly clock = new FakeClock(SINCE);
  deployments = [deployed('1.0.0'), deployed('1.1.0')];
  ownsNamespace = true;
  over: Partial<InstallationPorts> = {};
  versions: PluginVersion[];

  constructor(...versions: PluginVersion[]) {
    this.versions = versions;
  }

  async round(installation: PluginInstallation) {
    const environment = { clock: this.clock, signal: new AbortController().signal, metrics: { reconciled() {}, step() {} } };
    const { outcome, error } = await runSteps(installation, installationSteps(this.#ports()), environment);
    if (error !== undefined) throw error;
    return outcome;
  }

  /** Until it has nothing to do at once. */
  async settled(installation: PluginInstallation) {
    for (let round = 0; round < 10; round++) {
      const outcome = await this.round(installation);
      if (outcome.type !== 'waiting' || outcome.afterMs !== 0) return outcome;
    }
    throw new Error('it does not come to rest');
  }

  #ports(): InstallationPorts {
    const version = (name: string) => this.versions.find(({ metadata }) => metadata.name === name);
    const isSuspended = ({ spec }: PluginInstallation) => spec.suspended === true;
    const ports = {
      isTenant: () => true,
      isSuspended,
      ownsNamespace: () => this.ownsNamespace,
      deployments: () => this.deployments,
      deploymentsInside: () => [],
      placeOf: () => ({ in: 'host' }),
      tenantIn: () => undefined,
      hasCopies: () => false,
      setPlace: () => Promise.resolve(),
      workloadAt: () => ({ deployment: undefined, restarts: 0, pods: [] }),
      isElsewhere: () => false,
      versionsOf: () => this.versions,
      version,
      target: (each: PluginInstallation) => targetOf(each, version(`acme.hello.${each.status!.target!.version}`)!, isSuspended(each)),
      versions: (each: PluginInstallation, target: never) => versionsAtWork(each, target, version),
      namespaces: { ensure: () => Promise.resolve({ type: 'done', reason: 'Ready', message: '' }) },
      keep: (kind: Kind, _namespace: string, part: string, wanted: KubeObject[]) => {
        this.kept.push(
          `${part} ${kind.kind}: ${wanted.map(({ metadata, spec }) => `${metadata.name} ${spec?.replicas ?? ''}`.trim()).join()}`,
        );
        return Promise.resolve();
      },
      databaseAddresses: () => Promise.resolve([]),
      brokerAddresses: () => Promise.resolve([]),
      gatewayAddresses: () => [],
      databases: () => Promise.reject(new DatabaseUnavailable('it is down')),
      findSecret: () => undefined,
      lint: () => Promise.resolve([]),
      tokens: { ensureAccount: () => Promise.resolve(), ensure: () => Promise.resolve(1), remove: () => Promise.resolve() },
      backend: { fetch: () => Promise.resolve(undefined), read: () => undefined, howToPut: () => '', removeBelow: () => Promise.resolve() },
      pullSecret: () => undefined,
      broker: () => Promise.resolve(undefined),
      events: { hasSecret: () => false },
      claimTenant: () => Promise.resolve(true),
      deployment: (_namespace: string, name: string) => this.deployments.find(({ metadata }) => metadata.name === name),
      restarts: () => 0,
      policy: () => undefined,
      traffic: () => ({ isCurrent: true, isReported: true, versions: {} }),
      forgetSilent: () => Promise.resolve(),
      ...this.over,
    };
    return ports as unknown as InstallationPorts;
  }
}

const weights = ({ status }: PluginInstallation) => status!.gateway!.routes!.map(({ version, weight }) => [version, weight]);
const back = [
  ['1.0.0', 100],
  ['1.1.0', 0],
];
const half = [
  ['1.0.0', 50],
  ['1.1.0', 50],
];

describe('a suspension', () => {
  const suspended = () =>
    installed({ version: '1.0.0', suspended: true }, { target: { version: '1.0.0' }, gateway: { routes: [route('1.0.0', 100)] } });
  const ended = ['identity Secret: ', 'workload HorizontalPodAutoscaler: ', 'workload Deployment: plugin-1-0-0 0,plugin-1-1-0 0'];

  test.each<[string, PluginVersion[]]>([
    ['whose version was revoked', [published('1.0.0', 'REVOKED')]],
    ['whose version is gone', []],
    ['whose database is down', [published('1.0.0', 'VERIFIED', { database: {} })]],
    ['that misses a secret', [published('1.0.0', 'VERIFIED', { secrets: [{ name: 'a', property: 'b' }] })]],
  ])('ends the Pods and the token of a plugin %s', async (_, versions) => {
    const world = new World(...versions);
    const installation = suspended();
    await world.round(installation);
    expect(world.kept).toEqual(expect.arrayContaining(ended));
    expect(installation.status!.identity).toBeUndefined();
  });

  test('ends what a plugin may do at Kafka, and its Pods while Kafka is down', async () => {
    const world = new World(published('1.0.0', 'REVOKED'));
    world.deployments = [deployed('1.0.0', 0)];
    const withdrawn: object[] = [];
    const events = { hasSecret: () => true, withdraw: (of: object) => Promise.resolve(void withdrawn.push(of)) };
    world.over = { broker: () => Promise.reject(new Error('no answer')), events: events as never };
    expect(await world.round(suspended())).toMatchObject({ type: 'waiting', reason: 'EventsUnavailable', afterMs: 5_000 });
    expect(world.kept).toContain('workload Deployment: plugin-1-0-0 0');
    world.over = { broker: () => Promise.resolve({} as never), events: events as never };
    expect(await world.round(suspended())).toMatchObject({ reason: 'SignatureInvalid' });
    expect(withdrawn).toEqual([{ tenant: 'school', plugin: 'hello', namespace: 'plugin-school-hello' }]);
  });

  test('waits while it cannot be known whether Pods run in the cluster that its tenant lives in', async () => {
    const world = new World(published('1.0.0', 'REVOKED'));
    world.deployments = [];
    const installation = suspended();
    installation.status!.placement = { cluster: 'school', endpoints: [] };
    world.over = { deploymentsInside: () => undefined };
    expect(await world.round(installation)).toMatchObject({ type: 'waiting', reason: 'ClusterUnavailable', afterMs: 30_000 });
    expect(installation.status!.conditions).toContainEqual(
      expect.objectContaining({ type: 'SuspensionEnforced', status: 'False', message: expect.stringContaining('cluster "school"') }),
    );
    world.over = { deploymentsInside: () => [] };
    expect(await world.round(installation)).toMatchObject({ reason: 'SignatureInvalid' });
  });

  test('touches nothing of another publisher’s plugin of the same name', async () => {
    const world = new World();
    world.ownsNamespace = false;
    await world.round(suspended());
    expect(world.kept).toEqual([]);
  });
});

describe('requests leave a version', () => {
  test.each<[string, PluginVersion[], PluginInstallation]>([
    ['that was revoked', [published('1.0.0'), published('1.1.0', 'REVOKED')], atHalf({ version: '1.1.0' })],
    ['that is gone', [published('1.0.0')], atHalf({ version: '1.1.0' })],
    ['when nobody published the one after it', [published('1.0.0'), published('1.1.0')], atHalf({ version: '9.0.0' })],
    ['when the upgrade to it is called off', [published('1.0.0'), published('1.1.0')], atHalf({ version: '1.0.0' })],
    [
      'when another is wanted that is not ready',
      [published('1.0.0'), published('1.1.0'), published('1.2.0')],
      atHalf({ version: '1.2.0' }),
    ],
    [
      'that was taken back, while the database is down',
      [published('1.0.0', 'VERIFIED', { database: {} }), published('1.1.0', 'VERIFIED', { database: {} })],
      atHalf({ version: '1.1.0' }, { rejected: { version: '1.1.0', reason: 'ErrorRateExceeded', message: '', at: SINCE } }),
    ],
  ])('%s', async (_, versions, installation) => {
    const world = new World(...versions);
    // The gateways have not followed yet, so that nothing is removed.
    world.over = { traffic: () => ({ isCurrent: false, isReported: true, versions: {} }) };
    await world.settled(installation);
    expect(weights(installation)).toEqual(back);
    expect(installation.status!.gateway!.revision).toBe(3);
  });

  test('that fails while a secret of it is missing', async () => {
    const world = new World(published('1.0.0'), published('1.1.0', 'VERIFIED', { secrets: [{ name: 'a', property: 'b' }] }));
    const failing = { inFlight: 0, requests: 4, errors: 4, p99Ms: 1 };
    world.over = { traffic: () => ({ isCurrent: true, isReported: true, versions: { '1.1.0': failing } }) };
    const installation = atHalf({ version: '1.1.0' }, { target: { version: '1.1.0', step: 0, requests: 3, errors: 3, isDeployed: true } });
    expect(await world.round(installation)).toMatchObject({ reason: 'TakingBack' });
    expect(installation.status!.rejected).toMatchObject({ version: '1.1.0', reason: 'ErrorRateExceeded' });
  });

  test.each<[string, (world: World) => void, PluginVersion]>([
    [
      'when nothing of the version before answers',
      (world) => (world.deployments = [deployed('1.0.0', 0), deployed('1.1.0')]),
      published('1.1.0'),
    ],
    [
      'when it took away what the version before needs',
      () => {},
      published('1.1.0', 'VERIFIED', { database: { migrations: { path: 'm', contract: ['x.sql'] } } }),
    ],
  ])('but not %s', async (_, change, version) => {
    const world = new World(published('1.0.0', 'VERIFIED', { database: {} }), version);
    change(world);
    const installation = atHalf({ version: '1.0.0' });
    await world.round(installation);
    expect(weights(installation)).toEqual(half);
  });
});

test('an upgrade that was called off ends with what was at work alone, whatever share the policy gives first', async () => {
  const world = new World(published('1.0.0'), published('1.1.0'));
  world.over = { policy: () => ({ spec: { mode: 'canary', canaryPercent: 10, canaryPauseSeconds: 300 } }) as never };
  const installation = atHalf({ version: '1.0.0' }, { gateway: { revision: 2, routes: [route('1.0.0', 90), route('1.1.0', 10)] } });
  expect(await world.settled(installation)).toMatchObject({ type: 'done' });
  expect(weights(installation)).toEqual([['1.0.0', 100]]);
});

test('an upgrade that was left and taken up again does not stay at its step', async () => {
  const world = new World(published('1.0.0'), published('1.1.0'));
  const installation = atHalf({ version: '1.1.0' }, { target: { version: '1.2.0' } });
  expect(await world.round(installation)).toMatchObject({ type: 'waiting', reason: 'ShiftingTraffic' });
  expect(installation.status!.target!.stepSince).toBe(SINCE);
  delete installation.status!.target!.stepSince;
  await world.round(installation);
  await world.clock.advance(5_000);
  await world.round(installation);
  expect(installation.status!.target).toMatchObject({ version: '1.1.0', step: 1, weight: 100 });
});

test('what a version is called with build metadata is the version without', async () => {
  const world = new World(published('1.0.0'));
  const installation = installed(
    { version: '1.0.0+build.7' },
    { target: { version: '1.0.0' }, gateway: { routes: [route('1.0.0', 100)] } },
  );
  world.over = { version: () => world.versions[0] };
  expect(await world.settled(installation)).toMatchObject({ type: 'done' });
  expect(installation.status!.target!.version).toBe('1.0.0');
});

test('a rollback that there is no way for is refused once, and all goes on as it was', async () => {
  const world = new World(published('1.0.0'), published('1.1.0'));
  const routes = [route('1.0.0', 100)];
  const installation = installed({ version: '1.1.0', rollback: { request: 3 } }, { target: { version: '1.0.0' }, gateway: { routes } });
  expect(await world.settled(installation)).toMatchObject({ type: 'done' });
  const { status } = installation;
  expect(status).toMatchObject({ refusedRollback: 3, target: { version: '1.0.0' } });
  expect(status!.observedRollback).toBeUndefined();
  const refusal = { type: 'RollbackAccepted', status: 'False', reason: 'NoKnownGood' };
  expect(status!.conditions).toContainEqual(expect.objectContaining(refusal));
  await world.settled(installation);
  expect(status!.conditions).toContainEqual(expect.objectContaining(refusal));
  delete installation.spec.rollback;
  installation.spec.version = '1.0.0';
  await world.settled(installation);
  expect(status!.conditions!.map(({ type }) => type)).not.toContain('RollbackAccepted');
});

test('an installation has room for all of its conditions at once', () => {
  const { maxItems } = pluginInstallationDefinition.status.schema.properties!['conditions'];
  const ready = 1;
  expect(Object.keys(InstallationCondition).length + ready).toBeLessThanOrEqual(maxItems!);
});
