import { describe, expect, it } from 'vitest';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { problemsOf } from './validate-tenant.ts';

const tenant = (spec: Tenant['spec'], name = 'acme'): Tenant => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name },
  spec,
});

describe('a Tenant', () => {
  it('that is no more than its name has no problems', () => expect(problemsOf(tenant({}))).toEqual([]));

  it.each<[string, Tenant['spec'], string]>([
    ['everybody as owner', { owners: [{ kind: 'Group', name: 'system:authenticated' }] }, 'cannot own a tenant'],
    ['a reserved label', { labels: { 'kubernetes.io/x': 'y' } }, 'is reserved'],
    ['a range that is none', { network: { allow: [{ cidr: '10.0.0.0/99' }] } }, 'is not a range of addresses'],
    ['nodes of its own and no pool', { isolation: 'DedicatedNodes' }, 'spec.nodePool: is needed'],
    ['a KEDA of its own', { autoscaling: { enabled: true } }, 'this version installs no KEDA'],
  ])('with %s is refused', (_, spec, message) => expect(problemsOf(tenant(spec)).join()).toContain(message));

  it('named like the platform is refused', () => expect(problemsOf(tenant({}, 'kube-x')).join()).toContain('a name of the platform'));
});
