import { expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { failure } from '../../../../kube/status.ts';
import { toPem } from '../../../../lib/pki/pem.ts';
import type { TenantConnection } from '../../add-ons/tenant-connection.ts';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';
import { clusterSteps, type ClusterPorts } from '../cluster.steps.ts';
import { accessGranted } from './access-granted.step.ts';

const pem = (text: string) => toPem('CERTIFICATE', Buffer.from(text));
const DENIED = failure('Forbidden', 'admission webhook "no.acme.example" denied the request');

const RUNNING = {
  endpoint: 'https://127.0.0.1:1',
  authorityPem: pem('new'),
  owner: { certificatePem: pem('owner'), keyPem: 'key' },
  ownerGroup: 'owners',
  authorities: { forgotten: 'yesterday' },
} as unknown as RunningControlPlane;

const aCluster = (): TenantCluster => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'TenantCluster',
  metadata: { name: 'dev', namespace: 'acme', uid: 'u' },
  spec: {},
});

async function grant(refused: { patch?: Error; binding?: Error }) {
  const secrets: KubeObject[] = [];
  const maps = {
    get: () => Promise.resolve({ data: { 'client-ca-file': pem('new') + pem('old') } }),
    patch: () => (refused.patch ? Promise.reject(refused.patch) : Promise.resolve({})),
  };
  const connection = {
    tenantClient: { resource: () => maps },
    apply: () => (refused.binding ? Promise.reject(refused.binding) : Promise.resolve(true)),
  } as unknown as TenantConnection;
  const step = accessGranted({
    running: () => RUNNING,
    connection: () => Promise.resolve(connection),
    keepSecret: (secret) => (secrets.push(secret), Promise.resolve()),
  });
  const outcome = await step.run(aCluster(), {} as never);
  return { outcome, secrets };
}

it.each([
  ['the patch of the authorities', { patch: DENIED }, /cannot be told which authorities are revoked: .*denied the request/],
  ['the binding of the owners', { binding: DENIED }, /cannot be given their rights: .*denied the request/],
])('access waits and says why, and the kubeconfig is kept, when a webhook inside denies %s', async (_name, refused, why) => {
  const { outcome, secrets } = await grant(refused);
  expect(outcome).toMatchObject({ type: 'waiting', reason: 'AddOnRefused', message: expect.stringMatching(why) });
  expect(secrets).toHaveLength(1);
});

it('access is granted when nothing is refused', async () => {
  expect((await grant({})).outcome).toMatchObject({ type: 'done' });
});

it('a control plane that does not answer is no refusal', async () => {
  await expect(grant({ patch: new Error('ECONNREFUSED') })).rejects.toThrow('ECONNREFUSED');
});

it('nothing that is refused inside a cluster comes before its add-ons, and nothing waits for them', () => {
  const steps = clusterSteps({} as ClusterPorts);
  const names = steps.map(({ name }) => name);
  expect(names.indexOf('AddOnsInstalled')).toBe(names.indexOf('ControlPlaneReady') + 1);
  expect(steps.find(({ name }) => name === 'AddOnsInstalled')?.keepsNobodyWaiting).toBe(true);
});
