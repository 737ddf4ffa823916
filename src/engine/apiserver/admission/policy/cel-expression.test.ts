import { describe, expect, it } from 'vitest';
import type { Authorizer } from '../../auth/user.ts';
import { DYN } from '../../cel/types.ts';
import { aPod, aRequest } from '../testing/a-request.ts';
import { compileCelExpression } from './cel-expression.ts';
import { POLICY_BUDGET, type ExpressionNames } from './expression.ts';
import { requestVariables } from './request-variables.ts';

const AUTHORIZER: Authorizer = {
  authorize: ({ user, verb, group, resource, name, namespace, path }) => ({
    allowed: [
      `jane get apps/deployments team/`,
      'jane delete /pods team/p',
      'system:serviceaccount:a:b get /pods /',
      'jane get /healthz',
    ].includes(
      path === undefined ? `${user.name} ${verb} ${group}/${resource} ${namespace ?? ''}/${name ?? ''}` : `${user.name} ${verb} ${path}`,
    ),
    reason: '',
  }),
  rulesFor: () => [],
};

function evaluated(source: string, names: Partial<ExpressionNames> = {}): unknown {
  const request = aRequest('pods', aPod({}, { labels: { app: 'x' } }));
  const known = names.variables ?? new Map([['double', DYN]]);
  const expression = compileCelExpression(source, { params: true, authorizer: true, variables: known, ...names });
  return expression.evaluate(
    {
      ...requestVariables(request, { resource: request.resource, kind: request.kind, object: request.object }),
      params: { data: { max: '3' } },
      namespaceObject: { metadata: { name: 'team', labels: { env: 'dev' } } },
      authorizer: { user: request.user, authorizer: AUTHORIZER },
      variables: (name) => {
        if (name === 'broken') throw new Error('composited variable "broken" fails to evaluate: no');
        return 4n;
      },
    },
    { remaining: POLICY_BUDGET },
  );
}

describe('compileCelExpression', () => {
  it.each<[string, unknown]>([
    ['object.metadata.labels.app == "x" && oldObject == null', true],
    ['object.spec.containers.all(c, c.image.startsWith("busy"))', true],
    ['request.operation == "CREATE" && request.resource.resource == "pods"', true],
    ['request.userInfo.username + " in " + request.namespace', 'jane in team'],
    ['"jane" in request.userInfo.groups', false],
    ['has(request.subResource)', false],
    ['int(params.data.max) > 2', true],
    ['namespaceObject.metadata.labels["env"]', 'dev'],
    ['variables.double == 4', true],
    ['authorizer.group("apps").resource("deployments").namespace("team").check("get").allowed()', true],
    ['authorizer.group("apps").resource("deployments").namespace("team").check("delete").allowed()', false],
    ['authorizer.requestResource.check("delete").allowed()', true],
    ['authorizer.serviceAccount("a", "b").group("").resource("pods").check("get").allowed()', true],
    ['authorizer.path("/healthz").check("get").allowed()', true],
  ])('%s', (source, expected) => {
    expect(evaluated(source)).toEqual(expected);
  });

  it.each<[string, Partial<ExpressionNames>, string]>([
    ['object.spec.nothing > 1', {}, 'no such key: nothing'],
    ['request.nothing', {}, 'compilation failed: ERROR: <input>:1:8: undefined field'],
    ['variables.other', {}, 'compilation failed: ERROR: <input>:1:10: undefined field'],
    ['variables.broken', { variables: new Map([['broken', DYN]]) }, 'composited variable "broken" fails to evaluate: no'],
    ['params.a', { params: false }, "undeclared reference to 'params'"],
    ['authorizer.path("/")', { authorizer: false }, "undeclared reference to 'authorizer'"],
    ['1 + 1', { result: 'bool' }, 'must evaluate to bool but got int'],
    ['object.a', { result: 'string' }, 'must evaluate to string but got dyn'],
  ])('%s fails', (source, names, message) => {
    expect(() => evaluated(source, names)).toThrow(message);
  });

  it('takes its cost off the budget and stops when it is spent', () => {
    const expression = compileCelExpression('object.list.all(x, x > 0)', { params: false, authorizer: false });
    const variables = { object: { list: Array.from({ length: 1000 }, () => 1) }, oldObject: null, request: {} };
    const budget = { remaining: 10_000 };
    expression.evaluate(variables, budget);
    expect(budget.remaining).toBeLessThan(10_000);
    expect(() => expression.evaluate(variables, { remaining: 100 })).toThrow('running out of cost budget');
  });
});
