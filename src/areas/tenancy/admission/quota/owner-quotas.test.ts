import { expect, test } from 'vitest';
import { ownersQuotaProblem } from './owner-quotas.ts';

test.each<[string, string, Record<string, string>, string | undefined]>([
  ['a quota of the owner’s own', 'mine', { pods: '3', 'count/configmaps': '5' }, undefined],
  ['how many namespaces there are below', 'mine', { 'count/subnamespaceanchors.hnc.x-k8s.io': '3' }, undefined],
  ['a name that only begins alike', 'tenants', { pods: '3' }, undefined],
  ['the name of the Tenant’s quota', 'tenant', { pods: '3' }, 'choose another name'],
  ['the name of a scoped quota of the Tenant', 'tenant-high', { pods: '300' }, 'choose another name'],
  ['room for the boundary of the next namespace', 'mine', { 'count/networkpolicies.networking.k8s.io': '1' }, 'leave it out'],
  ['room for the quotas themselves', 'mine', { resourcequotas: '1' }, 'leave it out'],
])('%s', (_what, name, hard, expected) => {
  const quota = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'HierarchicalResourceQuota', metadata: { name }, spec: { hard } };
  expect(ownersQuotaProblem(quota)).toEqual(expected === undefined ? undefined : expect.stringContaining(expected));
});
