import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import type { StatusError } from '../../../../kube/status.ts';
import type { PolicyRule, UserInfo } from '../user.ts';
import { aggregatedRules } from './aggregation.ts';
import { checkBindingEscalation, checkRoleEscalation, type PolicyWrite } from './escalation.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { missingRules } from './rule-cover.ts';
import { clusterRole, clusterRoleObject, role, TestPolicy, user } from './testing-policy.ts';

const ann: UserInfo = { name: 'ann', groups: ['devs', 'system:authenticated'] };
const pods = (...verbs: string[]): PolicyRule => ({ verbs, apiGroups: [''], resources: ['pods'] });

const policy = new TestPolicy()
  .clusterRole(
    'held',
    pods('get', 'list'),
    { verbs: ['get'], nonResourceURLs: ['/metrics/*'] },
    { verbs: ['*'], apiGroups: ['apps'], resources: ['*/scale'] },
  )
  .clusterRole('small', pods('get'))
  .clusterRole('big', pods('delete'))
  .clusterRole('escalator', { verbs: ['escalate'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] })
  .clusterRole('binder', { verbs: ['bind'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: ['big'] })
  .clusterRole('everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] })
  .role('a', 'local', pods('list'))
  .clusterBinding('1', clusterRole('held'), user('ann'))
  .clusterBinding('2', clusterRole('held'), user('eve'))
  .clusterBinding('3', clusterRole('escalator'), user('eve'))
  .clusterBinding('4', clusterRole('binder'), user('bob'))
  .clusterBinding('5', clusterRole('everything'), user('root'))
  .binding('a', '6', clusterRole('big'), user('ann'));
const rules = new RbacAuthorizer(policy.objects);

function refusal(check: typeof checkRoleEscalation, write: Partial<PolicyWrite> & { object: KubeObject }): string | undefined {
  try {
    check(rules, { user: ann, requestName: '', namespace: '', ...write });
    return undefined;
  } catch (error) {
    return (error as StatusError).status.message;
  }
}

describe('checkRoleEscalation', () => {
  const of = (...wanted: PolicyRule[]) => ({ object: clusterRoleObject('new', wanted) });

  it('lets pass what the user holds, put together from several rules', () => {
    expect(refusal(checkRoleEscalation, of(pods('list', 'get'), { verbs: ['get'], nonResourceURLs: ['/metrics/a'] }))).toBeUndefined();
    expect(refusal(checkRoleEscalation, of({ verbs: ['patch'], apiGroups: ['apps'], resources: ['deployments/scale'] }))).toBeUndefined();
  });

  it('refuses more in the words of Kubernetes', () => {
    const wanted = [
      pods('get', 'watch', 'delete'),
      { verbs: ['get'], nonResourceURLs: ['/logs'] },
      { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['x'] },
    ];
    expect(refusal(checkRoleEscalation, of(...wanted))).toBe(
      [
        'clusterroles.rbac.authorization.k8s.io "new" is forbidden: user "ann" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}',
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["x"], Verbs:["get"]}',
        '{NonResourceURLs:["/logs"], Verbs:["get"]}',
      ].join('\n'),
    );
  });

  it('counts what the user holds in the role’s namespace', () => {
    const object = { ...clusterRoleObject('new', [pods('delete')]), kind: 'Role' };
    expect(refusal(checkRoleEscalation, { object, namespace: 'a' })).toBeUndefined();
    expect(refusal(checkRoleEscalation, { object, namespace: 'b' })).toContain('roles.rbac.authorization.k8s.io "new" is forbidden');
  });

  it('lets superusers and those who may escalate do it', () => {
    expect(refusal(checkRoleEscalation, { ...of(pods('*')), user: { name: 'x', groups: ['system:masters'] } })).toBeUndefined();
    expect(refusal(checkRoleEscalation, { ...of(pods('*')), user: { name: 'eve', groups: [] } })).toBeUndefined();
  });

  it('keeps aggregation to those who may do everything', () => {
    const object = clusterRoleObject('new', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } });
    const message =
      'clusterroles.rbac.authorization.k8s.io "new" is forbidden: must have cluster-admin privileges to use the aggregationRule';
    expect(refusal(checkRoleEscalation, { object })).toBe(message);
    expect(refusal(checkRoleEscalation, { object: clusterRoleObject('new', []), old: object })).toBe(message);
    expect(refusal(checkRoleEscalation, { object, user: { name: 'root', groups: [] } })).toBeUndefined();
  });

  it('does not mind a role that keeps its rules and loses a finalizer', () => {
    const old = clusterRoleObject('new', [pods('*')]);
    old.metadata.finalizers = ['x'];
    expect(refusal(checkRoleEscalation, { object: clusterRoleObject('new', [pods('*')]), old })).toBeUndefined();
    const labelled = clusterRoleObject('new', [pods('*')]);
    labelled.metadata.labels = { a: 'b' };
    expect(refusal(checkRoleEscalation, { object: labelled, old })).toContain('is attempting to grant');
  });

  it('survives rules that validation would refuse', () => {
    expect(refusal(checkRoleEscalation, of({ apiGroups: [''], resources: ['pods'] } as unknown as PolicyRule))).toBeUndefined();
    expect(
      refusal(checkRoleEscalation, of({ verbs: null, apiGroups: null, resources: ['pods'] } as unknown as PolicyRule)),
    ).toBeUndefined();
  });

  it('refuses a role of a hundred million combinations at once', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `x${i}`);
    expect(
      refusal(checkRoleEscalation, of({ verbs: [...many.slice(0, 100), 'get'], apiGroups: ['', ...many], resources: many })),
    ).toContain('its rules name too many combinations');
  });
});

describe('checkBindingEscalation', () => {
  const binding = (roleRef: object) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'new' },
    roleRef,
    subjects: [],
  });

  it('lets pass a role that holds no more than the user', () => {
    expect(refusal(checkBindingEscalation, { object: binding(clusterRole('small')) })).toBeUndefined();
    expect(refusal(checkBindingEscalation, { object: { ...binding(role('local')), kind: 'RoleBinding' }, namespace: 'a' })).toBeUndefined();
  });

  it('refuses a role that holds more', () => {
    expect(refusal(checkBindingEscalation, { object: binding(clusterRole('big')) })).toBe(
      'clusterrolebindings.rbac.authorization.k8s.io "new" is forbidden: user "ann" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
    );
  });

  it('lets those bind it who may bind this one', () => {
    const bob = { name: 'bob', groups: [] };
    expect(refusal(checkBindingEscalation, { object: binding(clusterRole('big')), user: bob })).toBeUndefined();
    expect(refusal(checkBindingEscalation, { object: binding(clusterRole('small')), user: bob })).toContain('is attempting to grant');
  });

  it('tells that a role does not exist', () => {
    expect(refusal(checkBindingEscalation, { object: binding(clusterRole('absent')) })).toBe(
      'clusterrolebindings.rbac.authorization.k8s.io "absent" not found',
    );
  });
});

describe('missingRules', () => {
  it('covers all names by none, and none by some', () => {
    const named = { ...pods('get'), resourceNames: ['a'] };
    expect(missingRules([pods('get')], [named])).toEqual([]);
    expect(missingRules([named], [pods('get')])).toEqual([pods('get')]);
  });
});

describe('aggregatedRules', () => {
  it('gathers matching roles by name, each rule once, itself left out', () => {
    const labels = { aggregate: 'yes' };
    const total = clusterRoleObject('a', [], {
      metadata: { name: 'a', labels },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
    });
    const roles = [
      clusterRoleObject('z', [pods('get')], { metadata: { name: 'z', labels } }),
      total,
      clusterRoleObject('m', [pods('list'), pods('get')], { metadata: { name: 'm', labels } }),
      clusterRoleObject('n', [pods('*')]),
    ];
    expect(aggregatedRules(total, roles)).toEqual([pods('list'), pods('get')]);
    expect(aggregatedRules(roles[3], roles)).toBeUndefined();
  });
});
