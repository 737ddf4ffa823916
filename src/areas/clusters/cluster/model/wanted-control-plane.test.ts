import { expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { Quantity } from '../../../../kube/quantity.ts';
import type { Bounds } from '../../policy/model/bounds.ts';
import { wantedControlPlane } from './wanted-control-plane.ts';

const CLUSTER: TenantCluster = {
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'TenantCluster',
  metadata: { name: 'dev', namespace: 'acme', uid: 'u' },
  spec: {},
  status: { version: '1.35.4' },
};

it.each([
  ['what the policy says', '4Gi', 4 * 1024 ** 3],
  ['what it cannot be without, of a policy that says none', '0', 64 * 1024 ** 2],
  ['what it cannot be without, of a policy that says less than none', '-1', 64 * 1024 ** 2],
  ['nothing, of a policy that says nothing', undefined, undefined],
])('the bound of a store is %s', (_name, storage, bytes) => {
  const bounds = (storage === undefined ? {} : { planeStorage: { value: Quantity.parse(storage), policy: 'p' } }) as Bounds;
  expect(wantedControlPlane(CLUSTER, bounds).limits?.storeBytes).toBe(bytes);
});
