import { expect, it } from 'vitest';
import type { ClusterPolicy } from '../../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { boundsOf, type AddOnOffer } from './bounds.ts';

type Offered = NonNullable<ClusterPolicy['spec']['addOns']>[number];

const TENANT = { apiVersion: 'tenantry.dev/v1alpha1', kind: 'Tenant', metadata: { name: 'acme' }, spec: {} } as const;
const from = (name: string) => ({ configMap: { namespace: 'default', name } });
const MINE = { name: 'audit', mandatory: true, ...from('mine') };
const YOURS = { name: 'audit', mandatory: true, ...from('yours') };

it.each<[string, Offered, Offered, AddOnOffer]>([
  ['those of the mandatory one, when the other came first', { ...MINE, mandatory: false }, YOURS, YOURS],
  ['those of the mandatory one, when it came first', MINE, { ...YOURS, mandatory: false }, MINE],
  [
    'those of the first, when nobody must have it',
    { ...MINE, mandatory: false },
    { ...YOURS, mandatory: false },
    { ...MINE, mandatory: false },
  ],
  ['those of both, when they are the same', MINE, MINE, MINE],
  ['those of the first with the clash, when both are mandatory', MINE, YOURS, { ...MINE, clash: ['a', 'b'] }],
  [
    'those that come with Tenantry with the clash, too',
    { name: 'audit', mandatory: true },
    YOURS,
    { name: 'audit', mandatory: true, clash: ['a', 'b'] },
  ],
])('of two policies with an add-on of one name the manifests are %s', (_name, first, second, expected) => {
  const policies = [first, second].map((addOn, index) => ({
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'ClusterPolicy',
    metadata: { name: 'ab'[index] },
    spec: { addOns: [addOn] },
  })) as ClusterPolicy[];
  expect(boundsOf(TENANT, policies)!.addOns).toEqual([expected]);
  expect(boundsOf(TENANT, policies.toReversed())!.addOns).toEqual([expected]);
});
