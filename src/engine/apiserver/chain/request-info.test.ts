import { describe, expect, it } from 'vitest';
import { parseRequestInfo } from './request-info.ts';

function parse(method: string, url: string) {
  const { pathname, searchParams } = new URL(url, 'https://server');
  return parseRequestInfo(method, pathname, (name) => searchParams.get(name) ?? undefined);
}

describe('parseRequestInfo', () => {
  const cases: [string, string, string, Partial<ReturnType<typeof parse>>][] = [
    [
      'a core object',
      'GET',
      '/api/v1/namespaces/default/pods/web',
      { verb: 'get', group: '', version: 'v1', resource: 'pods', namespace: 'default', name: 'web' },
    ],
    ['a list in a namespace', 'GET', '/api/v1/namespaces/default/pods', { verb: 'list', resource: 'pods', namespace: 'default', name: '' }],
    [
      'a list over all namespaces',
      'GET',
      '/apis/apps/v1/deployments',
      { verb: 'list', group: 'apps', resource: 'deployments', namespace: '' },
    ],
    ['a watch', 'GET', '/api/v1/pods?watch=true', { verb: 'watch', resource: 'pods' }],
    ['a watch by the old path', 'GET', '/api/v1/watch/namespaces/default/pods', { verb: 'watch', resource: 'pods', namespace: 'default' }],
    ['watch=0 as a list', 'GET', '/api/v1/pods?watch=0', { verb: 'list' }],
    ['a subresource', 'PUT', '/apis/apps/v1/namespaces/a/deployments/web/scale', { verb: 'update', name: 'web', subresource: 'scale' }],
    ['what follows a subresource', 'GET', '/api/v1/namespaces/a/services/web/proxy/some/path', { subresource: 'proxy', rest: 'some/path' }],
    [
      'a namespace itself',
      'GET',
      '/api/v1/namespaces/default',
      { verb: 'get', resource: 'namespaces', name: 'default', namespace: 'default' },
    ],
    [
      'a namespace subresource',
      'PUT',
      '/api/v1/namespaces/default/finalize',
      { resource: 'namespaces', name: 'default', subresource: 'finalize' },
    ],
    ['the collection of namespaces', 'POST', '/api/v1/namespaces', { verb: 'create', resource: 'namespaces', namespace: '', name: '' }],
    ['a deletecollection', 'DELETE', '/api/v1/namespaces/a/pods', { verb: 'deletecollection' }],
    ['a list narrowed to a name', 'GET', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dweb', { verb: 'list', name: 'web' }],
    ['a name with an escape', 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode', { name: 'system:node' }],
  ];
  it.each(cases)('reads %s', (_, method, url, expected) => {
    expect(parse(method, url)).toMatchObject({ isResource: true, ...expected });
  });

  it.each(['/', '/healthz', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/apis/apps/v1/', '/version'])(
    'takes %s as a path and no resource',
    (path) => {
      expect(parse('GET', path)).toMatchObject({ isResource: false, verb: 'get', path });
    },
  );
});
