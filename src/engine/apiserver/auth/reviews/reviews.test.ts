import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import type { StatusError } from '../../../../kube/status.ts';
import { RbacAuthorizer } from '../rbac/rbac-authorizer.ts';
import { clusterRole, role, TestPolicy, user } from '../rbac/testing-policy.ts';
import { TestIdentity } from '../testing-identity.ts';
import { localSubjectAccessReview, selfSubjectAccessReview, subjectAccessReview } from './access-review.ts';
import { selfSubjectReview, selfSubjectRulesReview } from './self-review.ts';
import { tokenReview } from './token-review.ts';

const ann = { name: 'ann', uid: 'u', groups: ['devs', 'system:authenticated'], extra: { k: ['v'] } };
const policy = new TestPolicy()
  .clusterRole('r', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, { verbs: ['get'], nonResourceURLs: ['/x'] })
  .clusterBinding('b', clusterRole('r'), user('ann'))
  .binding('a', 'broken', role('absent'), user('ann'));
const authorizer = new RbacAuthorizer(policy.objects);
const context = { user: ann, namespace: '', authorizer };

function review(kind: string, spec: object, metadata: object = {}): KubeObject {
  return { apiVersion: 'authorization.k8s.io/v1', kind, metadata, spec };
}

function refusal(act: () => unknown): { code: number; message?: string } {
  try {
    act();
    return { code: 0 };
  } catch (error) {
    const { code, message } = (error as StatusError).status;
    return { code, message };
  }
}

const getPods = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'a' } };
const REASON = 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"';

describe('access reviews', () => {
  it('answer for a user, a group, a path and oneself', () => {
    expect(subjectAccessReview(review('SubjectAccessReview', { ...getPods, user: 'ann' }), context).status).toEqual({
      allowed: true,
      reason: REASON,
    });
    expect(subjectAccessReview(review('SubjectAccessReview', { ...getPods, groups: ['devs'] }), context).status).toEqual({
      allowed: false,
    });
    const path = { nonResourceAttributes: { verb: 'get', path: '/x' } };
    expect(selfSubjectAccessReview(review('SelfSubjectAccessReview', path), context).status.allowed).toBe(true);
    expect(selfSubjectAccessReview(review('SelfSubjectAccessReview', getPods), context)).toMatchObject({
      kind: 'SelfSubjectAccessReview',
      spec: getPods,
      status: { allowed: true },
    });
  });

  it('say why a denial is not the whole truth', () => {
    const spec = { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'a' } };
    expect(selfSubjectAccessReview(review('SelfSubjectAccessReview', spec), context).status).toEqual({
      allowed: false,
      reason: 'RBAC: role.rbac.authorization.k8s.io "absent" not found',
    });
  });

  it('note selectors that were not understood', () => {
    const spec = {
      resourceAttributes: {
        ...getPods.resourceAttributes,
        fieldSelector: { rawSelector: 'a!b' },
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'New' },
          ],
        },
      },
    };
    expect(selfSubjectAccessReview(review('SelfSubjectAccessReview', spec), context).status.evaluationError).toBe(
      'spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector partially ignored due to parse error',
    );
  });

  it('refuse a namespace that is not the path’s', () => {
    const elsewhere = review('LocalSubjectAccessReview', { ...getPods, user: 'x' }, { namespace: 'b' });
    const act = () => localSubjectAccessReview(elsewhere, { ...context, namespace: 'a' });
    expect(refusal(act)).toEqual({ code: 400, message: 'spec.resourceAttributes.namespace must match namespace: a' });
  });
});

describe('reviews of oneself', () => {
  it('tell who one is', () => {
    const answer = selfSubjectReview(review('SelfSubjectReview', {}), { user: ann, now: () => new Date('2026-01-01T00:00:00Z') });
    expect(answer.metadata).toEqual({ creationTimestamp: '2026-01-01T00:00:00Z' });
    expect(answer.status.userInfo).toEqual({ username: 'ann', uid: 'u', groups: ['devs', 'system:authenticated'], extra: { k: ['v'] } });
  });

  it('list what one may do, and what is missing of it', () => {
    const answer = selfSubjectRulesReview(review('SelfSubjectRulesReview', { namespace: 'a' }), context);
    expect(answer.status).toEqual({
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
      evaluationError: 'role.rbac.authorization.k8s.io "absent" not found',
    });
    expect(refusal(() => selfSubjectRulesReview(review('SelfSubjectRulesReview', {}), context))).toEqual({
      code: 400,
      message: 'no namespace on request',
    });
  });
});

describe('a token review', () => {
  const test = new TestIdentity();
  const { tokens, apiAudiences } = test.identity;
  const ask = (spec: object) => tokenReview(review('TokenReview', spec), { tokens, apiAudiences });

  it('tells whose token it is and for whom', () => {
    const { token } = test.identity.issuer.issue({ account: test.account('a', 'robot'), audiences: ['x', 'y'], expirationSeconds: 600 });
    expect(ask({ token, audiences: ['y', 'z'] }).status).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:a:robot', uid: 'uid-robot' },
      audiences: ['y'],
    });
  });

  it('tells why a token is worth nothing', () => {
    expect(ask({ token: 'nonsense' }).status).toEqual({ user: {}, error: 'invalid bearer token' });
    expect(refusal(() => ask({}))).toEqual({ code: 400, message: 'token is required for TokenReview in authentication' });
  });
});
