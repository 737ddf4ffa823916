import { beforeEach, describe, expect, it } from 'vitest';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from '../rbac/policy-index.ts';
import { RbacAuthorizer } from '../rbac/rbac-authorizer.ts';
import { clusterRole, user } from '../rbac/testing-policy.ts';
import { MemoryObjects } from '../testing-objects.ts';
import type { PolicyRule } from '../user.ts';
import { ensureBootstrapPolicy } from './bootstrap-policy.ts';

let objects: MemoryObjects;
beforeEach(async () => {
  objects = new MemoryObjects();
  await ensureBootstrapPolicy(objects);
});

const rulesOf = (name: string): PolicyRule[] => objects.get(CLUSTER_ROLES, '', name)!.rules;

describe('ensureBootstrapPolicy on an empty server', () => {
  it('makes every default object of Kubernetes 1.35', () => {
    const count = (resource: typeof ROLES) => objects.list(resource).length;
    expect([CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS].map(count)).toEqual([68, 49, 7, 7]);
    const namespaces = objects.list({ group: '', resource: 'namespaces' }).map(({ metadata }) => metadata.name);
    expect(new Set(namespaces)).toEqual(new Set(['kube-public', 'kube-system']));
    expect(objects.get(CLUSTER_ROLES, '', 'system:discovery')!.metadata).toMatchObject({
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    });
  });

  it('fills view, edit and admin, each with what the smaller one has', () => {
    const sizes = ['view', 'edit', 'admin'].map((name) => rulesOf(name).length);
    expect(sizes[0]).toBeGreaterThan(0);
    expect(sizes[1]).toBeGreaterThan(sizes[0]);
    expect(sizes[2]).toBeGreaterThan(sizes[1]);
    expect(rulesOf('admin')).toEqual(expect.arrayContaining(rulesOf('view')));
  });

  it('decides as Kubernetes does for everyone', () => {
    const authorizer = new RbacAuthorizer(objects);
    const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
    const someone = { name: 'ann', groups: ['system:authenticated'] };
    const path = (who: typeof someone, url: string) => authorizer.authorize({ user: who, verb: 'get', path: url }).allowed;
    expect(['/version', '/readyz', '/api', '/openapi/v2'].map((url) => path(anonymous, url))).toEqual([true, true, false, false]);
    expect(['/version', '/readyz', '/api', '/openapi/v2', '/metrics'].map((url) => path(someone, url))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    const review = { user: someone, verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' };
    expect(authorizer.authorize(review).allowed).toBe(true);
    expect(authorizer.authorize({ user: someone, verb: 'list', group: '', resource: 'pods', namespace: 'default' }).allowed).toBe(false);
    objects.put(ROLE_BINDINGS, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'x', namespace: 'default' },
      roleRef: clusterRole('view'),
      subjects: [user('ann')],
    });
    expect(authorizer.authorize({ user: someone, verb: 'list', group: '', resource: 'pods', namespace: 'default' }).allowed).toBe(true);
    expect(authorizer.authorize({ user: someone, verb: 'list', group: '', resource: 'secrets', namespace: 'default' }).allowed).toBe(false);
  });
});

describe('ensureBootstrapPolicy on a server with history', () => {
  it('writes nothing when nothing is lacking', async () => {
    const before = objects.writes;
    expect(await ensureBootstrapPolicy(objects)).toEqual({ created: 0, updated: 0 });
    expect(objects.writes).toBe(before);
  });

  it('keeps what an administrator added', async () => {
    const extra: PolicyRule = { verbs: ['get'], apiGroups: ['acme.com'], resources: ['things'] };
    await objects.update(CLUSTER_ROLES, '', 'system:discovery', (draft) => void draft.rules.push(extra));
    await objects.update(CLUSTER_ROLE_BINDINGS, '', 'system:discovery', (draft) => void draft.subjects.push(user('ann')));
    const before = objects.writes;
    await ensureBootstrapPolicy(objects);
    expect(objects.writes).toBe(before);
    expect(rulesOf('system:discovery')).toContainEqual(extra);
  });

  it('puts back what was taken away', async () => {
    const full = rulesOf('system:node');
    await objects.update(CLUSTER_ROLES, '', 'system:node', (draft) => {
      draft.rules = draft.rules.slice(1);
      delete draft.metadata.labels;
    });
    await objects.update(CLUSTER_ROLE_BINDINGS, '', 'cluster-admin', (draft) => void (draft.subjects = []));
    objects.remove(CLUSTER_ROLES, '', 'view');
    expect(await ensureBootstrapPolicy(objects)).toEqual({ created: 1, updated: 2 });
    expect(rulesOf('system:node').flatMap((rule) => rule.resources ?? [])).toEqual(
      expect.arrayContaining(full.flatMap((rule) => rule.resources ?? [])),
    );
    expect(objects.get(CLUSTER_ROLES, '', 'system:node')!.metadata.labels).toEqual({ 'kubernetes.io/bootstrapping': 'rbac-defaults' });
    expect(objects.get(CLUSTER_ROLE_BINDINGS, '', 'cluster-admin')!.subjects).toHaveLength(1);
    expect(rulesOf('view').length).toBeGreaterThan(0);
  });

  it('leaves alone what is marked so', async () => {
    await objects.update(CLUSTER_ROLES, '', 'system:node', (draft) => {
      draft.rules = [];
      draft.metadata.annotations!['rbac.authorization.kubernetes.io/autoupdate'] = 'false';
    });
    await ensureBootstrapPolicy(objects);
    expect(rulesOf('system:node')).toEqual([]);
  });

  it('makes a binding anew that was pointed to another role', async () => {
    await objects.update(CLUSTER_ROLE_BINDINGS, '', 'system:discovery', (draft) => void (draft.roleRef.name = 'cluster-admin'));
    await ensureBootstrapPolicy(objects);
    expect(objects.get(CLUSTER_ROLE_BINDINGS, '', 'system:discovery')!.roleRef.name).toBe('system:discovery');
  });
});
