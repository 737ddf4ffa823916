import { expect, test } from 'vitest';
import { treeOf } from '../../../../../test/support/namespace-tree.ts';
import type { Client } from '../../../../client/client.ts';
import type { DiscoveredResource } from '../../../../client/discovery.ts';
import { ConfigMap, Node, Role, Secret } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { answerReview } from '../../../../runtime/admission/review.ts';
import type { ResourceEntry } from '../../propagation/model/configured-types.ts';
import { objectsOf } from '../../propagation/model/objects-of-type.ts';
import { configurationHandler } from './configuration.ts';

const object = (kind: string, namespace: string, name: string, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace, name },
  ...rest,
});
const SECRETS = [
  object('Secret', 'a', 's'),
  object('Secret', 'b', 's'),
  object('Secret', 'a', 'token', { type: 'helm.sh/release.v1' }),
  object('Secret', 'b', 'token'),
];
const discovered = [Secret, ConfigMap, Role, Node].map((kind): DiscoveredResource => ({
  ...kind,
  preferred: true,
  verbs: [],
  shortNames: [],
  singular: '',
  subresources: [],
}));

/** Secrets exist and are not watched; ConfigMaps are watched, and removed. */
async function review(operation: string, resources: ResourceEntry[], user = 'alice'): Promise<string> {
  const client = {
    discovery: { resources: () => Promise.resolve({ resources: discovered, failed: [] }) },
    // The items of a list have no kind.
    resource: () => ({ listAll: () => Promise.resolve({ items: SECRETS.map(({ metadata, type }) => ({ metadata, type })) }) }),
  } as unknown as Client;
  const removed = {
    kind: ConfigMap,
    mode: 'Remove',
    objects: objectsOf([object('ConfigMap', 'a', 'm'), object('ConfigMap', 'b', 'm')]),
  } as const;
  const handler = configurationHandler({
    client,
    forest: treeOf({ a: {}, b: { parent: 'a' } }),
    types: { find: (_, plural) => (plural === 'configmaps' ? removed : undefined) },
  });
  const groups = user === 'alice' ? [] : ['system:serviceaccounts:tenantry-system'];
  const request = {
    uid: 'u',
    operation,
    name: 'config',
    userInfo: { username: user, groups },
    object: operation === 'DELETE' ? null : { spec: { resources } },
  };
  const answer = await answerReview(
    handler,
    { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request },
    AbortSignal.timeout(5000),
  );
  const { allowed, status } = answer.response!;
  return allowed ? 'allowed' : `${status!.code} ${status!.message}`;
}

const INVALID = '422 HNCConfiguration.hnc.x-k8s.io "config" is invalid: ';
const overwrites = (type: string, line: string) =>
  `409 Operation cannot be fulfilled on hncconfigurations.hnc.x-k8s.io "hierarchy": Cannot update configuration because setting type "${type}" to 'Propagate' mode or 'AllowPropagate' mode would overwrite user-created object(s):\n  ${line}\nTo fix this, please rename or remove the conflicting objects first.`;

test.each<[string, ResourceEntry[], string]>([
  ['nothing', [], 'allowed'],
  ['a type to be ignored', [{ resource: 'secrets', mode: 'Ignore' }], 'allowed'],
  ['a type only what asks for it', [{ resource: 'secrets', mode: 'AllowPropagate' }], 'allowed'],
  [
    'a type that is not watched',
    [{ resource: 'secrets' }],
    overwrites('/v1, Kind=Secret', 'Object "s" in namespace "a" would overwrite the one in "b"'),
  ],
  [
    'a type that is watched',
    [{ resource: 'configmaps', mode: 'Propagate' }],
    overwrites('/v1, Kind=ConfigMap', 'Object "m" in namespace "a" would overwrite the one in "b"'),
  ],
  [
    'a type that nobody serves',
    [{ group: 'example.com', resource: 'things' }],
    `${INVALID}spec.resources[0]: Invalid value: things.example.com: no matches for example.com/, Resource=things`,
  ],
  [
    'a type that is not namespaced',
    [{ resource: 'nodes' }],
    `${INVALID}spec.resources[0]: Invalid value: nodes: resource "nodes" is not namespaced`,
  ],
  [
    'a type twice',
    [
      { resource: 'configmaps', mode: 'Ignore' },
      { resource: 'configmaps', mode: 'Remove' },
    ],
    `${INVALID}spec.resources[1]: Duplicate value: configmaps`,
  ],
  [
    'a type that is always propagated',
    [{ group: 'rbac.authorization.k8s.io', resource: 'roles', mode: 'Ignore' }],
    `${INVALID}spec.resources[0]: Invalid value: roles.rbac.authorization.k8s.io: always uses the 'Propagate' mode and cannot be configured`,
  ],
])('a configuration that names %s', async (_, resources, outcome) => {
  expect(await review('UPDATE', resources)).toBe(outcome);
});

test('the configuration, is not deleted by anybody but our controllers', async () => {
  expect(await review('DELETE', [])).toBe(
    `403 hncconfigurations.hnc.x-k8s.io "config" is forbidden: deleting the 'config' object is forbidden`,
  );
  expect(await review('DELETE', [], 'controller')).toBe('allowed');
});
