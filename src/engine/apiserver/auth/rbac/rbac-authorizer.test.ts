import { describe, expect, it } from 'vitest';
import type { Attributes, PolicyRule, UserInfo } from '../user.ts';
import { DecisionCache } from './decision-cache.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from './policy-index.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { clusterRole, group, role, serviceAccount, TestPolicy, user } from './testing-policy.ts';

const ann: UserInfo = { name: 'ann', groups: ['devs', 'system:authenticated'] };
const bob: UserInfo = { name: 'bob', groups: ['system:authenticated'] };
const readPods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

function ask(who: UserInfo, verb: string, resource: string, more: Partial<Attributes> = {}): Attributes {
  return { user: who, verb, group: '', resource, ...more };
}

describe('RbacAuthorizer', () => {
  const policy = new TestPolicy()
    .clusterRole('reader', readPods)
    .clusterRole('one', { verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['web'] })
    .clusterRole('scaler', { verbs: ['*'], apiGroups: ['*'], resources: ['*/scale', 'pods/*'] })
    .clusterRole('everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] })
    .clusterRole('paths', { verbs: ['get'], nonResourceURLs: ['/api', '/logs/*'] })
    .role('a', 'local', { verbs: ['delete'], apiGroups: [''], resources: ['secrets'] })
    .clusterBinding('devs-read', clusterRole('reader'), user('nobody'), group('devs'))
    .clusterBinding('bob-one', clusterRole('one'), user('bob'))
    .clusterBinding('bob-scales', clusterRole('scaler'), user('bob'))
    .clusterBinding('paths', clusterRole('paths'), group('system:authenticated'))
    .clusterBinding('sa-everything', clusterRole('everything'), serviceAccount('robot', 'kube-system'))
    .binding('a', 'ann-local', role('local'), user('ann'))
    .binding('a', 'sa-local', role('local'), serviceAccount('builder'))
    .binding('b', 'ann-broken', role('absent'), user('ann'))
    .binding('b', 'bob-broken', clusterRole('absent'), user('bob'));
  const authorizer = new RbacAuthorizer(policy.objects);
  const robot: UserInfo = { name: 'system:serviceaccount:kube-system:robot', groups: [] };
  const builder: UserInfo = { name: 'system:serviceaccount:a:builder', groups: [] };

  const cases: [string, Attributes, boolean, string][] = [
    ['by group', ask(ann, 'list', 'pods'), true, 'RBAC: allowed by ClusterRoleBinding "devs-read" of ClusterRole "reader" to Group "devs"'],
    [
      'in a namespace by a cluster role',
      ask(ann, 'get', 'pods', { namespace: 'x', name: 'p' }),
      true,
      'RBAC: allowed by ClusterRoleBinding "devs-read" of ClusterRole "reader" to Group "devs"',
    ],
    ['another verb', ask(ann, 'delete', 'pods', { namespace: 'x' }), false, ''],
    ['another group', ask(ann, 'get', 'pods', { group: 'metrics.k8s.io' }), false, ''],
    ['a subresource that is not named', ask(ann, 'get', 'pods', { subresource: 'log' }), false, ''],
    [
      'a named object',
      ask(bob, 'update', 'deployments', { group: 'apps', namespace: 'x', name: 'web' }),
      true,
      'RBAC: allowed by ClusterRoleBinding "bob-one" of ClusterRole "one" to User "bob"',
    ],
    ['another object than the named one', ask(bob, 'update', 'deployments', { group: 'apps', namespace: 'x', name: 'db' }), false, ''],
    ['all objects when one is named', ask(bob, 'get', 'deployments', { group: 'apps', namespace: 'x' }), false, ''],
    [
      'a subresource of everything',
      ask(bob, 'patch', 'statefulsets', { group: 'apps', subresource: 'scale', namespace: 'x' }),
      true,
      'RBAC: allowed by ClusterRoleBinding "bob-scales" of ClusterRole "scaler" to User "bob"',
    ],
    ['pods/* which is no wildcard', ask(bob, 'get', 'pods', { subresource: 'log' }), false, ''],
    [
      'an exact path',
      { user: bob, verb: 'get', path: '/api' },
      true,
      'RBAC: allowed by ClusterRoleBinding "paths" of ClusterRole "paths" to Group "system:authenticated"',
    ],
    [
      'a path below a star',
      { user: bob, verb: 'get', path: '/logs/a/b' },
      true,
      'RBAC: allowed by ClusterRoleBinding "paths" of ClusterRole "paths" to Group "system:authenticated"',
    ],
    ['a path that only starts alike', { user: bob, verb: 'get', path: '/apis' }, false, ''],
    ['a path with another verb', { user: bob, verb: 'post', path: '/api' }, false, ''],
    ['a path by resource wildcards', { user: robot, verb: 'get', path: '/metrics' }, false, ''],
    [
      'everything to a service account',
      ask(robot, 'escalate', 'clusterroles', { group: 'rbac.authorization.k8s.io' }),
      true,
      'RBAC: allowed by ClusterRoleBinding "sa-everything" of ClusterRole "everything" to ServiceAccount "robot/kube-system"',
    ],
    [
      'by a role in its namespace',
      ask(ann, 'delete', 'secrets', { namespace: 'a' }),
      true,
      'RBAC: allowed by RoleBinding "ann-local/a" of Role "local" to User "ann"',
    ],
    ['by a role in another namespace', ask(ann, 'delete', 'secrets', { namespace: 'c' }), false, ''],
    ['by a role of a namespace at the cluster scope', ask(ann, 'delete', 'secrets'), false, ''],
    [
      'a service account of the binding’s namespace',
      ask(builder, 'delete', 'secrets', { namespace: 'a' }),
      true,
      'RBAC: allowed by RoleBinding "sa-local/a" of Role "local" to ServiceAccount "builder/a"',
    ],
    [
      'a role that does not exist',
      ask(ann, 'delete', 'secrets', { namespace: 'b' }),
      false,
      'RBAC: role.rbac.authorization.k8s.io "absent" not found',
    ],
    [
      'a cluster role that does not exist',
      ask(bob, 'delete', 'secrets', { namespace: 'b' }),
      false,
      'RBAC: clusterrole.rbac.authorization.k8s.io "absent" not found',
    ],
    ['a superuser', ask({ name: 'x', groups: ['system:masters'] }, 'delete', 'nodes'), true, ''],
    ['probes to anyone', { user: { name: 'system:anonymous', groups: [] }, verb: 'get', path: '/livez' }, true, ''],
  ];

  for (const [name, attributes, allowed, reason] of cases) {
    it(`${allowed ? 'allows' : 'denies'} ${name}, first and from the cache`, () => {
      expect(authorizer.authorize(attributes)).toEqual({ allowed, reason });
      expect(authorizer.authorize(attributes)).toEqual({ allowed, reason });
      expect(authorizer.authorize({ ...attributes, user: { ...attributes.user } })).toEqual({ allowed, reason });
    });
  }
});

describe('RbacAuthorizer after a change', () => {
  const secrets = ask(ann, 'delete', 'secrets', { namespace: 'a' });

  it('follows bindings and roles of a namespace', () => {
    const policy = new TestPolicy();
    const authorizer = new RbacAuthorizer(policy.objects);
    const allowed = () => authorizer.authorize(secrets).allowed;
    expect(allowed()).toBe(false);
    policy.binding('a', 'x', role('r'), user('ann'));
    expect(allowed()).toBe(false);
    policy.role('a', 'r', { verbs: ['delete'], apiGroups: [''], resources: ['secrets'] });
    expect(allowed()).toBe(true);
    policy.role('a', 'r', readPods);
    expect(allowed()).toBe(false);
    policy.role('a', 'r', { verbs: ['delete'], apiGroups: [''], resources: ['secrets'] });
    expect(allowed()).toBe(true);
    policy.binding('a', 'x', role('r'), user('bob'));
    expect(allowed()).toBe(false);
    policy.binding('a', 'x', role('r'), user('ann'));
    expect(allowed()).toBe(true);
    policy.objects.remove(ROLES, 'a', 'r');
    expect(authorizer.authorize(secrets).reason).toContain('not found');
    policy.objects.remove(ROLE_BINDINGS, 'a', 'x');
    expect(authorizer.authorize(secrets)).toEqual({ allowed: false, reason: '' });
  });

  it('follows cluster roles and their bindings', () => {
    const policy = new TestPolicy().clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    const authorizer = new RbacAuthorizer(policy.objects);
    const allowed = () => authorizer.authorize(secrets).allowed;
    expect(allowed()).toBe(false);
    policy.clusterBinding('b', clusterRole('r'), group('devs'));
    expect(allowed()).toBe(true);
    policy.clusterRole('r', readPods);
    expect(allowed()).toBe(false);
    policy.clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    expect(allowed()).toBe(true);
    policy.objects.remove(CLUSTER_ROLES, '', 'r');
    expect(allowed()).toBe(false);
    policy.clusterRole('r', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    expect(allowed()).toBe(true);
    policy.objects.remove(CLUSTER_ROLE_BINDINGS, '', 'b');
    expect(allowed()).toBe(false);
  });

  it('keeps the decisions of other namespaces', () => {
    const policy = new TestPolicy().clusterRole('r', readPods).binding('a', 'x', clusterRole('r'), user('ann'));
    const authorizer = new RbacAuthorizer(policy.objects);
    const pods = ask(ann, 'list', 'pods', { namespace: 'a' });
    const before = authorizer.authorize(pods);
    policy.binding('b', 'y', clusterRole('r'), user('ann'));
    expect(authorizer.authorize(pods)).toBe(before);
  });
});

describe('the decision cache', () => {
  it('stays within its bound under questions that never repeat', () => {
    const cache = new DecisionCache(100);
    const authorizer = new RbacAuthorizer(new TestPolicy().objects, cache);
    for (let i = 0; i < 1000; i++) authorizer.authorize(ask({ name: `u${i}`, groups: [] }, 'get', 'pods', { namespace: `n${i}` }));
    expect(cache.size).toBeLessThanOrEqual(200);
  });

  it('takes one entry for all names, when no rule names objects', () => {
    const cache = new DecisionCache(100);
    const policy = new TestPolicy().clusterRole('r', readPods).clusterBinding('b', clusterRole('r'), user('ann'));
    const authorizer = new RbacAuthorizer(policy.objects, cache);
    for (let i = 0; i < 50; i++) authorizer.authorize(ask(ann, 'get', 'pods', { namespace: 'a', name: `p${i}` }));
    expect(cache.size).toBe(1);
  });

  it('tells apart fields that would run into each other', () => {
    const cache = new DecisionCache();
    const keys = [
      ask(ann, 'get', 'pods', { subresource: 'log' }),
      ask(ann, 'get', 'podslog'),
      ask(ann, 'get', 'pods/log'),
      ask(ann, 'getpods', 'log'),
      ask(ann, 'get', 'pods', { namespace: 'log' }),
      ask(ann, 'get', '', { path: 'podslog' }),
    ].map((attributes) => cache.keyOf(attributes));
    expect(new Set(keys).size).toBe(keys.length);
  });
});
