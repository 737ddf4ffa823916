import { expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Outcome } from '../../../../runtime/steps/outcome.ts';
import { ControlPlaneError, type ControlPlanes, type WantedControlPlane } from '../../control-plane/control-planes.ts';
import { withVersion } from '../model/upgrade.ts';
import { controlPlaneReady } from './control-plane-ready.step.ts';

type Status = NonNullable<TenantCluster['status']>;

function aCluster(status: Status): TenantCluster {
  const metadata = { name: 'dev', namespace: 'acme', uid: 'u' };
  return { apiVersion: 'tenantry.dev/v1alpha1', kind: 'TenantCluster', metadata, spec: {}, status: { provider: 'kubernetes', ...status } };
}

/** One round with a provider whose programs of these versions do not come up. */
async function round(
  cluster: TenantCluster,
  broken: Record<string, ControlPlaneError>,
  offered = ['1.35.4', '1.34.4'],
  signal = new AbortController().signal,
): Promise<Outcome> {
  const run = (wanted: WantedControlPlane) => {
    const error = broken[wanted.version];
    const running = { endpoint: 'https://10.0.0.1:1', certificatesExpire: 0, replicas: { wanted: 1, ready: 1 } };
    return error ? Promise.reject(error) : Promise.resolve(running);
  };
  const step = controlPlaneReady({
    planesOf: () => ({ provider: 'kubernetes', run }) as unknown as ControlPlanes,
    tenantOf: () => undefined,
    boundsOf: () => undefined,
    offers: { controlPlanes: [{ provider: 'kubernetes', versions: offered, maxReplicas: 1 }], machines: [], networks: {} },
    setRunning: () => Promise.resolve(),
    sleepWorkers: () => Promise.resolve(),
  });
  return step.run(cluster, { signal, now: () => 0 });
}

const UPGRADING = { version: '1.34.4', upgrade: { version: '1.35.4' } };
const ENDED = new ControlPlaneError('StartFailed', 'kube-apiserver ended: unknown flag', { afterMs: 100 });

it('controlPlaneReady has the new version once that has come up', async () => {
  const cluster = aCluster(UPGRADING);
  expect((await round(cluster, {})).type).toBe('done');
  expect(cluster.status).toMatchObject({ version: '1.35.4' });
  expect(cluster.status).not.toHaveProperty('upgrade');
});

it('controlPlaneReady goes back to the version before when the new one does not come up, and says what to do', async () => {
  const cluster = aCluster(UPGRADING);
  expect(await round(cluster, { '1.35.4': ENDED })).toMatchObject({
    type: 'waiting',
    reason: 'UpgradeFailed',
    message:
      'Kubernetes 1.35.4 did not come up: kube-apiserver ended: unknown flag; it goes on with 1.34.4. To try again ask for 1.34.4, then for 1.35.4',
  });
  expect((await round(cluster, { '1.35.4': ENDED })).type).toBe('done');
  expect(cluster.status).toMatchObject({ version: '1.34.4', upgrade: { version: '1.35.4', failed: 'kube-apiserver ended: unknown flag' } });
});

it('controlPlaneReady gives up no version because Tenantry is stopped while it starts', async () => {
  const cluster = aCluster(UPGRADING);
  await round(cluster, { '1.35.4': ENDED }, undefined, AbortSignal.abort());
  expect(cluster.status).toMatchObject(UPGRADING);
  expect(cluster.status!.upgrade).not.toHaveProperty('failed');
});

it.each<[string, ControlPlaneError, string[]]>([
  ['what is in the way is in the way of any version', new ControlPlaneError('DiskFull', 'full', { afterMs: 100 }), ['1.35.4', '1.34.4']],
  ['there are no programs of the version before', ENDED, ['1.35.4']],
])('controlPlaneReady goes on trying when %s', async (_name, error, offered) => {
  const cluster = aCluster(UPGRADING);
  expect(await round(cluster, { '1.35.4': error }, offered)).toMatchObject({ type: 'waiting', reason: error.reason });
  expect(cluster.status).toMatchObject(UPGRADING);
});

it.each<[string, Status, string, Status]>([
  ['a new cluster has it', {}, '1.35.4', { version: '1.35.4' }],
  ['another one is an upgrade', { version: '1.34.4' }, '1.35.4', UPGRADING],
  [
    'what failed is not tried again',
    { version: '1.34.4', upgrade: { version: '1.35.4', failed: 'x' } },
    '1.35.4',
    { version: '1.34.4', upgrade: { version: '1.35.4', failed: 'x' } },
  ],
  [
    'a further one is tried after a failure',
    { version: '1.34.4', upgrade: { version: '1.35.4', failed: 'x' } },
    '1.35.5',
    { version: '1.34.4', upgrade: { version: '1.35.5' } },
  ],
  [
    'who asks for the one before forgets the failure',
    { version: '1.34.4', upgrade: { version: '1.35.4', failed: 'x' } },
    '1.34.4',
    { version: '1.34.4' },
  ],
])('withVersion: %s', (_name, status, version, expected) => {
  expect(withVersion(status, version)).toEqual(expected);
});
