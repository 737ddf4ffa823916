import { describe, expect, it } from 'vitest';
import { isolationOf, ownerOf, tenantRequest } from './tenant-request.ts';

describe('an owner on the command line', () => {
  it.each([
    ['alice', { kind: 'User', name: 'alice' }],
    ['user:bob@example.com', { kind: 'User', name: 'bob@example.com' }],
    ['group:devs', { kind: 'Group', name: 'devs' }],
    ['serviceaccount:ci/robot', { kind: 'ServiceAccount', namespace: 'ci', name: 'robot' }],
    ['sa:ci/robot', { kind: 'ServiceAccount', namespace: 'ci', name: 'robot' }],
    ['system:serviceaccount:x', { kind: 'User', name: 'system:serviceaccount:x' }],
  ])('%s is read', (text, owner) => expect(ownerOf(text)).toEqual(owner));

  it.each([
    ['group:', 'has no name'],
    ['sa:robot', 'serviceaccount:namespace/name'],
    ['sa:a/b/c', 'serviceaccount:namespace/name'],
  ])('%s is refused', (text, why) => expect(() => ownerOf(text)).toThrow(why));
});

describe('the request for a tenant', () => {
  it('says nothing that was not asked for', () => {
    expect(tenantRequest('acme', {})).toEqual({ metadata: { name: 'acme' }, spec: {} });
  });

  it('holds what the flags say', () => {
    const flags = { owner: ['alice'], isolation: 'dedicated-nodes', quota: ['cpu=4,memory=8Gi', 'pods=20'], node: ['n1'], maxRuns: '5' };
    expect(tenantRequest('acme', flags).spec).toEqual({
      owners: [{ kind: 'User', name: 'alice' }],
      isolation: 'DedicatedNodes',
      quota: { hard: { cpu: '4', memory: '8Gi', pods: '20' } },
      nodePool: { names: ['n1'] },
      runs: { maxInFlight: 5 },
    });
  });

  it.each([
    [{ quota: ['cpu'] }, 'Cannot read --quota "cpu"'],
    [{ maxNamespaces: 'many' }, 'Cannot read --max-namespaces "many"'],
  ])('%o is refused', (flags, why) => expect(() => tenantRequest('acme', flags)).toThrow(why));

  it('of an unknown isolation is refused with what there is', () => {
    expect(() => isolationOf('vm')).toThrow('the settings are Namespace, DedicatedNodes, Cluster');
  });
});
