import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { boundsOf } from './bounds.ts';
import type { Offers } from './offers.ts';
import { placementOf } from './placement.ts';

const TENANT: Tenant = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'Tenant', metadata: { name: 'acme' }, spec: {} };
const BOUNDS = boundsOf(TENANT, [{ apiVersion: 'tenantry.dev/v1alpha1', kind: 'ClusterPolicy', metadata: { name: 'all' }, spec: {} }])!;
const offers = (versions: string[], missing?: string): Offers => ({
  controlPlanes: [
    { provider: 'embedded', versions: ['1.35.4'], maxReplicas: 1 },
    { provider: 'kubernetes', versions, maxReplicas: 1, missing },
  ],
  machines: [],
  networks: {},
});
const aCluster = (spec: TenantCluster['spec'], status?: TenantCluster['status']): TenantCluster => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'TenantCluster',
  metadata: { name: 'dev', namespace: 'acme' },
  spec,
  status,
});
const VERSIONS = ['1.37.0', '1.36.1', '1.35.4', '1.35.2', '1.34.0'];
const place = (version: string | undefined, held?: string) =>
  placementOf(
    aCluster({ version }, held === undefined ? undefined : { provider: 'kubernetes', version: held }),
    BOUNDS,
    offers(VERSIONS),
    0,
  );

describe('placementOf', () => {
  it('prefers real Kubernetes where it is to be had', () => {
    expect(placementOf(aCluster({}), BOUNDS, offers(['1.35.4']), 0)).toEqual({ provider: 'kubernetes', version: '1.35.4' });
    expect(placementOf(aCluster({}), BOUNDS, offers([]), 0)).toEqual({ provider: 'embedded', version: '1.35.4' });
  });

  it('says what is missing of a control plane that was asked for', () => {
    const wanted = aCluster({ controlPlane: { provider: 'kubernetes' } });
    expect(placementOf(wanted, BOUNDS, offers([], 'there is no etcd'), 0)).toEqual({
      refusal: 'no control plane "kubernetes" can be had here (there is no etcd); use embedded',
    });
  });

  it.each([
    ['a newer patch', '1.35.4', '1.35.2'],
    ['the next minor version', '1.36.1', '1.35.4'],
  ])('upgrades to %s', (_name, version, held) => {
    expect(place(version, held)).toEqual({ provider: 'kubernetes', version });
  });

  it.each([
    ['two minor versions at once', '1.37.0', '1.35.4', 'is upgraded one minor version at a time: 1.37.0 cannot follow it'],
    ['back to an earlier minor version', '1.34.0', '1.35.4', 'is not taken back to an earlier version: 1.34.0 cannot follow it'],
    ['back to an earlier patch', '1.35.2', '1.35.4', 'is not taken back to an earlier version: 1.35.2 cannot follow it'],
  ])('does not go %s', (_name, version, held, why) => {
    expect(place(version, held)).toEqual({ refusal: `it has version ${held}, and ${why}; ask for the next one` });
  });

  it('does not take a cluster from one control plane to another', () => {
    const status = { provider: 'embedded', version: '1.35.4' };
    const asked = (provider: 'embedded' | 'kubernetes') =>
      placementOf(aCluster({ controlPlane: { provider } }, status), BOUNDS, offers(VERSIONS), 0);
    expect(asked('kubernetes')).toEqual({ refusal: 'it has control plane "embedded" for life; make another cluster with "kubernetes"' });
    expect(asked('embedded')).toEqual(status);
  });

  it('leaves a cluster alone that asks for nothing else', () => {
    expect(place(undefined, '1.35.4')).toEqual({ provider: 'kubernetes', version: '1.35.4' });
    expect(place('1.35', '1.35.2')).toEqual({ provider: 'kubernetes', version: '1.35.2' });
  });
});
