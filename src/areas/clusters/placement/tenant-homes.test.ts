import { expect, it } from 'vitest';
import { OWNED_BY_TENANT } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Client } from '../../../client/client.ts';
import { TenantHomes } from './tenant-homes.ts';

const RUNNING = { endpoint: 'https://127.0.0.1:1', authorityPem: 'ca' };
const client = {} as Client;

function aCluster(name: string, labels: Record<string, string>, spec: object = { placement: { namespaces: [] } }): TenantCluster {
  return { apiVersion: 'v1', kind: 'TenantCluster', metadata: { name, namespace: 'acme', labels }, spec };
}
const OWN = aCluster('acme', { [OWNED_BY_TENANT]: 'acme' });

it('the cluster that the platform made is where its tenant lives, until it sleeps or goes', () => {
  const homes = new TenantHomes();
  const told: string[] = [];
  homes.onChange((tenant) => void told.push(tenant));
  homes.keep(OWN, client, RUNNING);
  homes.keep(OWN, client, RUNNING);
  expect(homes.of('acme')).toEqual({ cluster: 'acme', client, workers: 0, ...RUNNING });
  expect(told).toEqual(['acme']);
  homes.keep(OWN, client, { ...RUNNING, authorityPem: 'next' });
  homes.forget(OWN);
  expect([homes.of('acme'), told]).toEqual([undefined, ['acme', 'acme', 'acme']]);
});

it('nothing runs in a cluster that sleeps, until it wakes, whoever has heard of it before', () => {
  const homes = new TenantHomes();
  const told: boolean[] = [];
  homes.onChange((tenant) => void told.push(homes.isStill(tenant)));
  homes.forget(aCluster('mine', {}));
  expect([homes.isStill('acme'), told]).toEqual([false, []]);
  homes.forget(OWN);
  homes.forget(OWN);
  expect(homes.isStill('acme')).toBe(true);
  homes.wakes(OWN);
  expect([homes.isStill('acme'), told]).toEqual([false, [true, false]]);
  homes.forget(OWN);
  homes.keep(OWN, client, RUNNING);
  expect(homes.isStill('acme')).toBe(false);
});

it.each<[string, TenantCluster]>([
  ['that its owners made', aCluster('mine', {})],
  ['with the label of another tenant', aCluster('mine', { [OWNED_BY_TENANT]: 'other' })],
  ['that nothing was placed in', aCluster('acme', { [OWNED_BY_TENANT]: 'acme' }, {})],
])('a cluster %s is nobody’s home', (_, cluster) => {
  const homes = new TenantHomes();
  homes.keep(cluster, client, RUNNING);
  expect(homes.of('acme')).toBeUndefined();
});

it('what becomes of another cluster of the tenant does not matter', () => {
  const homes = new TenantHomes();
  homes.keep(OWN, client, RUNNING);
  homes.keep(aCluster('mine', {}), {} as Client, RUNNING);
  homes.forget(aCluster('mine', {}));
  expect(homes.of('acme')?.client).toBe(client);
});
