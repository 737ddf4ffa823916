import { describe, expect, it } from 'vitest';
import { impersonate } from './impersonation.ts';
import { RbacAuthorizer } from './rbac/rbac-authorizer.ts';
import { clusterRole, TestPolicy, user } from './rbac/testing-policy.ts';
import type { StatusError } from '../../../kube/status.ts';

const ann = { name: 'ann', groups: ['system:authenticated'] };
const root = { name: 'root', groups: ['system:masters'] };
const policy = new TestPolicy()
  .clusterRole(
    'r',
    { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['bob'] },
    { verbs: ['impersonate'], apiGroups: [''], resources: ['groups'], resourceNames: ['devs'] },
    { verbs: ['impersonate'], apiGroups: ['authentication.k8s.io'], resources: ['userextras/scopes'] },
    { verbs: ['impersonate'], apiGroups: [''], resources: ['serviceaccounts'] },
  )
  .clusterBinding('b', clusterRole('r'), user('ann'));
const authorizer = new RbacAuthorizer(policy.objects);

describe('impersonate', () => {
  it('is not asked for without its headers', () => {
    expect(impersonate(ann, { accept: '*/*' }, authorizer)).toBeUndefined();
  });

  const allowed: [string, Record<string, string | string[]>, object][] = [
    ['a user', { 'impersonate-user': 'bob' }, { name: 'bob', groups: ['system:authenticated'] }],
    [
      'a user in a group',
      { 'impersonate-user': 'bob', 'impersonate-group': 'devs' },
      { name: 'bob', groups: ['devs', 'system:authenticated'] },
    ],
    [
      'extra values',
      { 'impersonate-user': 'bob', 'impersonate-extra-scopes': ['x', 'y'] },
      { name: 'bob', groups: ['system:authenticated'], extra: { scopes: ['x', 'y'] } },
    ],
    [
      'a service account with the groups of its kind',
      { 'impersonate-user': 'system:serviceaccount:a:robot' },
      { name: 'system:serviceaccount:a:robot', groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'] },
    ],
  ];
  for (const [name, headers, expected] of allowed) {
    it(`becomes ${name}`, () => {
      expect(impersonate(ann, headers, authorizer)).toEqual(expected);
    });
  }

  it('lets a superuser be anyone, with uid and anonymous group', () => {
    expect(impersonate(root, { 'impersonate-user': 'system:anonymous', 'impersonate-uid': 'u' }, authorizer)).toEqual({
      name: 'system:anonymous',
      uid: 'u',
      groups: ['system:unauthenticated'],
    });
  });

  const refused: [string, Record<string, string | string[]>, number, string][] = [
    [
      'another user',
      { 'impersonate-user': 'eve' },
      403,
      'users "eve" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'a group among allowed ones',
      { 'impersonate-user': 'bob', 'impersonate-group': ['devs', 'system:masters'] },
      403,
      'groups "system:masters" is forbidden: User "ann" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ],
    [
      'another extra key',
      { 'impersonate-user': 'bob', 'impersonate-extra-acme.com%2fx': 'y' },
      403,
      'userextras.authentication.k8s.io "y" is forbidden: User "ann" cannot impersonate resource "userextras/acme.com/x" in API group "authentication.k8s.io" at the cluster scope',
    ],
    [
      'a uid',
      { 'impersonate-user': 'bob', 'impersonate-uid': 'u' },
      403,
      'uids.authentication.k8s.io "u" is forbidden: User "ann" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    ],
    ['a group without a user', { 'impersonate-group': 'devs' }, 400, 'requested [{Group  devs    }] without impersonating a user'],
  ];
  for (const [name, headers, code, message] of refused) {
    it(`refuses ${name}`, () => {
      try {
        impersonate(ann, headers, authorizer);
        expect.unreachable();
      } catch (error) {
        expect((error as StatusError).status).toMatchObject({ code, message });
      }
    });
  }
});
