import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiSuiteContext } from './suite.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const AUTHENTICATION = '/apis/authentication.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';

const as = (name: string, more: Record<string, string> = {}) => ({ headers: { 'impersonate-user': name, ...more } });
const bindTo = (name: string, kind: string, roleName: string, subject: string) => ({
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind, name: roleName },
  subjects: [{ kind: 'User', apiGroup: GROUP, name: subject }],
});

/** Who one is and what one may do: denials, impersonation, reviews, tokens, escalation and the default policy. */
export function identitySuite(context: ApiSuiteContext): void {
  describe('authorization', () => denials(context));
  describe('reviews', () => reviews(context));
  describe('tokens', () => tokens(context));
  describe('escalation', () => escalation(context));
}

function denials(context: ApiSuiteContext): void {
  const target = () => context.target();
  const path = (resource: string, name?: string) => context.path(resource, name);
  const { namespace } = context;
  it.each([
    [
      'GET',
      () => path('pods'),
      'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "conformance-identity"',
    ],
    [
      'GET',
      () => `${path('pods', 'x')}/log`,
      'pods "x" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in the namespace "conformance-identity"',
    ],
    [
      'DELETE',
      () => path('deployments'),
      'deployments.apps is forbidden: User "ann" cannot deletecollection resource "deployments" in API group "apps" in the namespace "conformance-identity"',
    ],
    ['GET', () => '/api/v1/nodes/x', 'nodes "x" is forbidden: User "ann" cannot get resource "nodes" in API group "" at the cluster scope'],
    ['GET', () => '/metrics', 'forbidden: User "ann" cannot get path "/metrics"'],
  ])('denies %s in the standard sentence', async (method, url, message) => {
    const { body } = await target().request(method, url(), undefined, as('ann'));
    expect(body).toMatchObject({ code: 403, reason: 'Forbidden', message });
    expect(namespace).toBe('conformance-identity');
  });

  it('lets everyone see health and version, and only those who are someone discovery', async () => {
    const codes = async (who: string) =>
      Promise.all(['/livez', '/version', '/api'].map(async (url) => (await target().request('GET', url, undefined, as(who))).status));
    expect(await codes('system:anonymous')).toEqual([200, 200, 403]);
    expect(await codes('ann')).toEqual([200, 200, 200]);
  });

  it('impersonates nobody without a name', async () => {
    const { body } = await target().request('GET', '/api', undefined, { headers: { 'impersonate-group': 'x' } });
    expect(body).toMatchObject({ code: 400, message: 'requested [{Group  x    }] without impersonating a user' });
  });

  it('has the default policy of Kubernetes', async () => {
    const count = async (resource: string) =>
      (await target().request('GET', `${RBAC}/${resource}?labelSelector=kubernetes.io/bootstrapping=rbac-defaults`)).body.items.length;
    expect(await Promise.all(['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(count))).toEqual([68, 49, 7, 7]);
  });
}

function reviews(context: ApiSuiteContext): void {
  const target = () => context.target();
  const { namespace } = context;
  const post = (url: string, body: object, call = {}) => target().request('POST', url, body, call);

  it('tell an impersonated account who it is', async () => {
    const call = as(`system:serviceaccount:${namespace}:robot`, { 'impersonate-uid': '7', 'impersonate-extra-acme.com%2fkey': 'z' });
    const { body } = await post(`${AUTHENTICATION}/selfsubjectreviews`, {}, call);
    expect(body.status.userInfo).toEqual({
      username: `system:serviceaccount:${namespace}:robot`,
      uid: '7',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra: { 'acme.com/key': ['z'] },
    });
  });

  it('answer with the binding that allows it', async () => {
    const spec = { nonResourceAttributes: { verb: 'get', path: '/api' } };
    const { status, body } = await post(`${AUTHORIZATION}/selfsubjectaccessreviews`, { spec }, as('ann'));
    expect(status).toBe(201);
    expect(body.status).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
    });
  });

  it('list the rules that apply', async () => {
    const { body } = await post(`${AUTHORIZATION}/selfsubjectrulesreviews`, { spec: { namespace } }, as('ann'));
    expect(body.status.incomplete).toBe(false);
    expect(body.status.resourceRules).toContainEqual({
      verbs: ['create'],
      apiGroups: ['authentication.k8s.io'],
      resources: ['selfsubjectreviews'],
    });
  });

  it.each([
    ['selfsubjectaccessreviews', { spec: {} }, 422, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'],
    [
      'subjectaccessreviews',
      { spec: { resourceAttributes: { verb: 'get' } } },
      422,
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    ['selfsubjectrulesreviews', { spec: {} }, 400, 'no namespace on request'],
    [
      'namespaces/conformance-identity/localsubjectaccessreviews',
      { spec: { user: 'x', resourceAttributes: { namespace: 'y' } } },
      422,
      'spec.resourceAttributes.namespace: Invalid value: "y": must match metadata.namespace',
    ],
  ])('refuse %s without what they need', async (resource, body, code, message) => {
    const answer = await post(`${AUTHORIZATION}/${resource}`, body);
    expect(answer.body).toMatchObject({ code, message: expect.stringContaining(message) });
  });
}

function tokens(context: ApiSuiteContext): void {
  const target = () => context.target();
  const path = (resource: string, name?: string) => context.path(resource, name);
  const ask = (spec: object, metadata = {}) => target().request('POST', `${path('serviceaccounts', 'robot')}/token`, { metadata, spec });
  const review = async (token: string, audiences?: string[]) =>
    (await target().request('POST', `${AUTHENTICATION}/tokenreviews`, { spec: { token, audiences } })).body.status;

  beforeAll(async () => {
    await target().request('POST', path('serviceaccounts'), { metadata: { name: 'robot' } });
  });

  it('identify the account they were issued for', async () => {
    const { status, body } = await ask({ audiences: ['vault'] });
    expect(status).toBe(201);
    const { authenticated, audiences, user } = await review(body.status.token, ['vault', 'other']);
    expect({ authenticated, audiences }).toEqual({ authenticated: true, audiences: ['vault'] });
    expect(user.username).toBe('system:serviceaccount:conformance-identity:robot');
    expect(user.extra['authentication.kubernetes.io/credential-id'][0]).toMatch(/^JTI=/);
  });

  it('are worth nothing to others, when forged, and without their account', async () => {
    const { body } = await ask({ audiences: ['vault'] });
    expect((await review(body.status.token)).error).toMatch(
      /^\[invalid bearer token, token audiences \["vault"\] is invalid for the target audiences \[.*\]\]$/,
    );
    expect(await review('nonsense')).toEqual({ user: {}, error: 'invalid bearer token' });
    await target().request('DELETE', path('serviceaccounts', 'robot'));
    await target().request('POST', path('serviceaccounts'), { metadata: { name: 'robot' } });
    expect((await review(body.status.token, ['vault'])).error).toMatch(
      /^\[invalid bearer token, service account UID \(.*\) does not match claim \(.*\)\]$/,
    );
  });

  it.each([
    [
      { expirationSeconds: 5 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    ],
    [{ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } }, {}, 404, 'pods "x" not found'],
    [{ boundObjectRef: { kind: 'Foo', apiVersion: 'v1', name: 'x' } }, {}, 400, 'cannot bind token to object of type /v1, Kind=Foo'],
    [
      {},
      { name: 'other' },
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
    ],
  ])('are not issued for %j %j', async (spec, metadata, code, message) => {
    expect((await ask(spec, metadata)).body).toMatchObject({ code, message });
  });
}

function escalation(context: ApiSuiteContext): void {
  const target = () => context.target();
  const path = (resource: string, name?: string) => context.path(resource, name);
  const create = (url: string, body: object) => target().request('POST', url, body, as('identity-manager'));

  beforeAll(async () => {
    const resources = ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'];
    const rules = [
      { verbs: ['create', 'patch', 'get'], apiGroups: [GROUP], resources },
      { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    ];
    await target().request('POST', `${RBAC}/clusterroles`, { metadata: { name: 'identity-manager' }, rules });
    await target().request(
      'POST',
      `${RBAC}/clusterrolebindings`,
      bindTo('identity-manager', 'ClusterRole', 'identity-manager', 'identity-manager'),
    );
  });

  it('lets a role be granted that holds no more than its writer', async () => {
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
    expect((await create(path('roles'), { metadata: { name: 'less' }, rules })).status).toBe(201);
    expect((await create(path('rolebindings'), bindTo('less', 'Role', 'less', 'bob'))).status).toBe(201);
  });

  it('refuses one that holds more and lists what', async () => {
    const rules = [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'secrets'] }];
    const { body } = await create(path('roles'), { metadata: { name: 'more' }, rules });
    expect(body).toMatchObject({
      code: 403,
      message: [
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "identity-manager" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
      ].join('\n'),
    });
  });

  it('refuses a binding to everything, and to a role that does not exist', async () => {
    const everything = await create(`${RBAC}/clusterrolebindings`, bindTo('identity-more', 'ClusterRole', 'cluster-admin', 'bob'));
    expect(everything.body.message).toMatch(
      /is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}\n\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}$/,
    );
    const absent = await create(path('rolebindings'), bindTo('absent', 'Role', 'absent', 'bob'));
    expect(absent.body).toMatchObject({ code: 404, message: 'rolebindings.rbac.authorization.k8s.io "absent" not found' });
  });

  it('keeps aggregation to those who may do everything', async () => {
    const role = {
      metadata: { name: 'identity-total' },
      rules: [],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    };
    expect((await create(`${RBAC}/clusterroles`, role)).body).toMatchObject({
      code: 403,
      message:
        'clusterroles.rbac.authorization.k8s.io "identity-total" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    });
  });
}
