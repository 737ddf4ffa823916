import { describe, expect, test } from 'vitest';
import type { DiscoveredResource } from '../../../../client/discovery.ts';
import { findIn, problemText, resolveEntries, typesInForce, type ResourceEntry } from './configured-types.ts';

const resource = (group: string, version: string, plural: string, rest: Partial<DiscoveredResource> = {}): DiscoveredResource => ({
  group,
  version,
  plural,
  kind: plural.slice(0, 1).toUpperCase() + plural.slice(1, -1),
  singular: plural.slice(0, -1),
  namespaced: true,
  preferred: true,
  verbs: [],
  shortNames: [],
  subresources: [],
  ...rest,
});
const find = findIn([
  resource('', 'v1', 'secrets'),
  resource('', 'v1', 'nodes', { namespaced: false }),
  resource('apps', 'v1', 'deployments'),
  resource('rbac.authorization.k8s.io', 'v1', 'roles'),
  resource('example.com', 'v1', 'things'),
  resource('example.com', 'v1beta1', 'things', { preferred: false }),
  resource('hnc.x-k8s.io', 'v1alpha2', 'subnamespaceanchors'),
]);

describe('an entry of the configuration', () => {
  test.each<[string, ResourceEntry[], string[]]>([
    ['names a type', [{ resource: 'secrets' }], ['secrets Propagate /v1']],
    ['in the preferred version', [{ group: 'example.com', resource: 'things', mode: 'Remove' }], ['things Remove example.com/v1']],
    ['by its singular', [{ resource: 'secret', mode: 'Ignore' }], ['secret Ignore /v1']],
    ['without its group', [{ resource: 'deployments', mode: 'AllowPropagate' }], ['deployments AllowPropagate apps/v1']],
    ['that nobody serves', [{ resource: 'nothings' }], ['no matches for /, Resource=nothings']],
    ['of another group', [{ group: 'apps', resource: 'secrets' }], ['no matches for apps/, Resource=secrets']],
    ['that is not namespaced', [{ resource: 'nodes' }], ['resource "nodes" is not namespaced']],
    [
      'a second time',
      [{ resource: 'secrets', mode: 'Remove' }, { resource: 'secret' }],
      ['secrets Remove /v1', 'Multiple sync mode settings found for "secret"; all but one ("Remove") will be ignored'],
    ],
    [
      'that is always propagated',
      [{ group: 'rbac.authorization.k8s.io', resource: 'roles' }],
      ['The sync mode for "roles.rbac.authorization.k8s.io" is enforced by HNC as "Propagate" and cannot be overridden'],
    ],
    [
      'that makes the tree',
      [{ group: 'hnc.x-k8s.io', resource: 'subnamespaceanchors' }],
      ['objects of hnc.x-k8s.io make the tree and cannot be copied down in it'],
    ],
  ])('%s', (_, entries, outcome) => {
    const resolved = resolveEntries(entries, find).map((entry) =>
      entry.type
        ? `${entry.type.resource} ${entry.type.mode} ${entry.type.kind.group}/${entry.type.kind.version}`
        : problemText(entry, entry.problems[0]),
    );
    expect(resolved).toEqual(outcome);
  });
});

test('the types in force, are sorted and hold roles and their bindings always', () => {
  const types = typesInForce(resolveEntries([{ group: 'example.com', resource: 'things' }, { resource: 'secrets' }], find));
  expect(types.map(({ group, resource: name }) => `${group}/${name}`)).toEqual([
    '/secrets',
    'example.com/things',
    'rbac.authorization.k8s.io/rolebindings',
    'rbac.authorization.k8s.io/roles',
  ]);
});
