import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { Answer } from '../../support/api-target.ts';
import type { Tree } from './tree.ts';

const CONFIG = '/apis/hnc.x-k8s.io/v1alpha2/hncconfigurations/config';
const P = 'propagate.hnc.x-k8s.io';
const MERGE = 'application/merge-patch+json';
const OBJECTS = 'objects.hnc.x-k8s.io';
const CONFIGURATIONS = 'hncconfigurations.hnc.x-k8s.io';

const at = (namespace: string, name = ''): string => `/api/v1/namespaces/${namespace}/configmaps${name && `/${name}`}`;
const create = (tree: Tree, namespace: string, name: string, metadata: object = {}): Promise<Answer> =>
  tree.request('POST', at(namespace), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data: { a: '1' } });
const annotate = (tree: Tree, name: string, annotations: object): Promise<Answer> =>
  tree.request('PATCH', at('o-top', name), { metadata: { annotations } }, MERGE);
const patchCopy = (tree: Tree, patch: object): Promise<Answer> => tree.request('PATCH', at('o-child', 'source'), patch, MERGE);

/** Read, then write, as kubectl-hns does; what the controllers write meanwhile is taken up. */
async function configure(tree: Tree, resources: object[]): Promise<Answer> {
  const { body } = await tree.request('GET', CONFIG);
  return tree.request('PUT', CONFIG, { ...body, spec: { resources } });
}

type Refusal = [name: string, ask: (tree: Tree) => Promise<Answer>, code: number, webhook: string, message: string];

const MODIFIED = 'configmaps "o-child/source" is forbidden: cannot modify object propagated from namespace "o-top"';
const LABEL = 'configmaps "o-child/source" is forbidden: cannot modify the label "hnc.x-k8s.io/inherited-from"';
const KNOWN = `${P}/select; ${P}/treeSelect; ${P}/none; ${P}/all`;
const INVALID = 'HNCConfiguration.hnc.x-k8s.io "config" is invalid: ';
const CONFIG_MAPS = { resource: 'configmaps', mode: 'Propagate' };

const REFUSALS: Refusal[] = [
  ['a copy that is changed', (tree) => patchCopy(tree, { data: { a: '2' } }), 403, OBJECTS, MODIFIED],
  ['a copy that gets a label', (tree) => patchCopy(tree, { metadata: { labels: { x: 'y' } } }), 403, OBJECTS, MODIFIED],
  [
    'a copy that gets an exception',
    (tree) => patchCopy(tree, { metadata: { annotations: { [`${P}/none`]: 'true' } } }),
    403,
    OBJECTS,
    MODIFIED,
  ],
  [
    'a copy that is made a source',
    (tree) => patchCopy(tree, { metadata: { labels: { 'hnc.x-k8s.io/inherited-from': null } } }),
    403,
    OBJECTS,
    LABEL,
  ],
  [
    'a copy that is deleted',
    (tree) => tree.request('DELETE', at('o-child', 'source')),
    403,
    OBJECTS,
    'configmaps "/" is forbidden: cannot delete object propagated from namespace "o-top"',
  ],
  [
    'a copy that nobody propagated',
    (tree) => create(tree, 'o-child', 'forged', { labels: { 'hnc.x-k8s.io/inherited-from': 'o-top' } }),
    403,
    OBJECTS,
    'configmaps "o-child/forged" is forbidden: cannot create objects with the label "hnc.x-k8s.io/inherited-from"',
  ],
  [
    'a source above somebody else’s objects',
    (tree) => create(tree, 'o-top', 'own'),
    409,
    OBJECTS,
    'Operation cannot be fulfilled on configmaps "o-top/own": would overwrite objects in the following descendant namespace(s): o-child,o-grandchild. To fix this, choose a different name for the object, or remove the conflicting objects from the listed namespaces',
  ],
  [
    'an exception that is not known',
    (tree) => annotate(tree, 'source', { [`${P}/some`]: 'x' }),
    400,
    OBJECTS,
    `invalid HNC exceptions annotation: ${P}/some, should be one of the following: ${KNOWN}`,
  ],
  [
    'a selector that cannot be read',
    (tree) => annotate(tree, 'source', { [`${P}/select`]: 'a b' }),
    400,
    OBJECTS,
    `invalid Kubernetes labelSelector: while parsing "${P}/select": couldn't parse the selector string "a b": unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt`,
  ],
  [
    'a selector of a kind that objects cannot have',
    (tree) => annotate(tree, 'source', { [`${P}/select`]: 'a!=b' }),
    400,
    OBJECTS,
    `invalid Kubernetes labelSelector: while parsing "${P}/select": "!=" is not a valid label selector operator`,
  ],
  [
    'a tree that is no namespace',
    (tree) => annotate(tree, 'source', { [`${P}/treeSelect`]: '!$' }),
    400,
    OBJECTS,
    `invalid HNC "${P}/treeSelect" value: "$" is not a valid namespace name: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
  ],
  [
    'two trees',
    (tree) => annotate(tree, 'source', { [`${P}/treeSelect`]: 'a, b' }),
    400,
    OBJECTS,
    `invalid HNC "${P}/treeSelect" value: should only have one non-negated namespace, but got multiple: [a b]`,
  ],
  [
    'a flag that is none',
    (tree) => annotate(tree, 'source', { [`${P}/none`]: 'maybe' }),
    400,
    OBJECTS,
    `invalid ${P}/none value: strconv.ParseBool: parsing "maybe": invalid syntax`,
  ],
  [
    'two exceptions',
    (tree) => annotate(tree, 'source', { [`${P}/none`]: 'true', [`${P}/treeSelect`]: '!x' }),
    400,
    OBJECTS,
    `cannot have more than one selector at the same time, but got multiple: ${P}/treeSelect, ${P}/none`,
  ],
  [
    'a configuration with a type that is always propagated',
    (tree) => configure(tree, [CONFIG_MAPS, { group: 'rbac.authorization.k8s.io', resource: 'roles', mode: 'Ignore' }]),
    422,
    CONFIGURATIONS,
    `${INVALID}spec.resources[1]: Invalid value: roles.rbac.authorization.k8s.io: always uses the 'Propagate' mode and cannot be configured`,
  ],
  [
    'a configuration with a type that nobody serves',
    (tree) => configure(tree, [CONFIG_MAPS, { group: 'example.com', resource: 'things' }]),
    422,
    CONFIGURATIONS,
    `${INVALID}spec.resources[1]: Invalid value: things.example.com: no matches for example.com/, Resource=things`,
  ],
  [
    'a configuration with a type that is not namespaced',
    (tree) => configure(tree, [CONFIG_MAPS, { resource: 'nodes' }]),
    422,
    CONFIGURATIONS,
    `${INVALID}spec.resources[1]: Invalid value: nodes: resource "nodes" is not namespaced`,
  ],
  [
    'a configuration with a type twice',
    (tree) => configure(tree, [CONFIG_MAPS, { resource: 'configmaps', mode: 'Ignore' }]),
    422,
    CONFIGURATIONS,
    `${INVALID}spec.resources[1]: Duplicate value: configmaps`,
  ],
  [
    'a configuration that is deleted',
    (tree) => tree.request('DELETE', CONFIG),
    403,
    CONFIGURATIONS,
    `hncconfigurations.hnc.x-k8s.io "config" is forbidden: deleting the 'config' object is forbidden`,
  ],
  [
    'a configuration that would overwrite objects',
    (tree) => configure(tree, [CONFIG_MAPS, { resource: 'secrets', mode: 'Propagate' }]),
    409,
    CONFIGURATIONS,
    `Operation cannot be fulfilled on hncconfigurations.hnc.x-k8s.io "hierarchy": Cannot update configuration because setting type "/v1, Kind=Secret" to 'Propagate' mode or 'AllowPropagate' mode would overwrite user-created object(s):\n  Object "same" in namespace "o-top" would overwrite the one in "o-child"\nTo fix this, please rename or remove the conflicting objects first.`,
  ],
  [
    'a move that would overwrite objects',
    (tree) => tree.configure('o-mover', { parent: 'o-top' }),
    409,
    'hierarchyconfigurations.hnc.x-k8s.io',
    'Operation cannot be fulfilled on hierarchyconfigurations.hnc.x-k8s.io "hierarchy": Cannot update hierarchy because it would overwrite the following object(s):\n  * Namespace "o-mover": source (/v1, Kind=ConfigMap)\nTo fix this, please rename or remove the conflicting objects first.',
  ],
];

/** Objects that are copied down a tree: what becomes of them, and what nobody may do to them. */
export function objectsSuite(tree: () => Tree): void {
  const content = async (namespace: string, name: string): Promise<Json> => {
    const { status, body } = await tree().request('GET', at(namespace, name));
    return status === 200 ? body : undefined;
  };
  const where = async (name: string): Promise<string[]> => {
    const { body } = await tree().request('GET', `/api/v1/configmaps?fieldSelector=metadata.name=${name}`);
    return body.items.map(({ metadata }: Json) => metadata.namespace).sort();
  };
  const isIn = (name: string, ...namespaces: string[]) => tree().until(async () => expect(await where(name)).toEqual(namespaces));
  const configured = (...resources: object[]) => tree().until(async () => void (await tree().must(configure(tree(), resources))));

  beforeAll(async () => {
    await tree().namespaces('o-top', 'o-child', 'o-grandchild', 'o-mover');
    await tree().parent('o-child', 'o-top');
    await tree().parent('o-grandchild', 'o-child');
    for (const namespace of ['o-top', 'o-child'])
      await tree().must(tree().request('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'same' } }));
    // HNC knows the objects of a type only while it does something about them.
    await configured(CONFIG_MAPS, { resource: 'secrets', mode: 'Remove' });
    for (const namespace of ['o-child', 'o-grandchild'])
      // The lower one first: the other way round it would be a copy.
      await tree().must(create(tree(), namespace, namespace === 'o-child' ? 'upper' : 'own', { annotations: { [`${P}/none`]: 'true' } }));
    await tree().must(create(tree(), 'o-child', 'own', { annotations: { [`${P}/none`]: 'true' } }));
    await tree().must(create(tree(), 'o-mover', 'source'));
    await tree().until(async () =>
      expect((await tree().request('GET', CONFIG)).body.status.resources).toContainEqual(
        expect.objectContaining({ resource: 'configmaps', mode: 'Propagate' }),
      ),
    );
    await tree().must(
      create(tree(), 'o-top', 'source', { labels: { team: 'x', 'app.kubernetes.io/managed-by': 'helm' }, annotations: { note: 'n' } }),
    );
    await isIn('source', 'o-child', 'o-grandchild', 'o-mover', 'o-top');
  }, 120_000);

  it('a copy, has the labels and annotations of its source, and two more that say what it is', async () => {
    const { metadata, data } = await content('o-grandchild', 'source');
    expect(metadata.labels).toEqual({ team: 'x', 'app.kubernetes.io/managed-by': 'hnc.x-k8s.io', 'hnc.x-k8s.io/inherited-from': 'o-top' });
    expect(metadata.annotations).toEqual({ note: 'n' });
    expect(data).toEqual({ a: '1' });
  });

  it.each(REFUSALS)('%s, is refused', async (_name, ask, code, webhook, message) => {
    await tree().until(async () => {
      const { status, body } = await ask(tree());
      expect(body.message).toBe(`admission webhook "${webhook}" denied the request: ${message}`);
      expect(status).toBe(code);
    });
  });

  it('exceptions, decide where a source goes, and are obeyed when they change', async () => {
    await tree().must(create(tree(), 'o-top', 'excepted', { annotations: { [`${P}/treeSelect`]: 'o-grandchild' } }));
    await isIn('excepted', 'o-grandchild', 'o-top');
    await tree().must(annotate(tree(), 'excepted', { [`${P}/treeSelect`]: '!o-grandchild' }));
    await isIn('excepted', 'o-child', 'o-top');
    await tree().must(annotate(tree(), 'excepted', { [`${P}/treeSelect`]: null, [`${P}/none`]: 'true' }));
    await isIn('excepted', 'o-top');
    await tree().must(annotate(tree(), 'excepted', { [`${P}/none`]: null }));
    await isIn('excepted', 'o-child', 'o-grandchild', 'o-top');
    await tree().must(tree().request('DELETE', at('o-top', 'excepted')));
    await isIn('excepted');
  });

  it('modes, decide what is copied at all', async () => {
    await tree().must(create(tree(), 'o-top', 'asked', { annotations: { [`${P}/all`]: 'true' } }));
    await tree().must(create(tree(), 'o-top', 'unasked'));
    await isIn('unasked', 'o-child', 'o-grandchild', 'o-top');
    await configured({ resource: 'configmaps', mode: 'AllowPropagate' });
    await isIn('unasked', 'o-top');
    await isIn('asked', 'o-child', 'o-grandchild', 'o-top');
    await configured({ resource: 'configmaps', mode: 'Remove' });
    await isIn('asked', 'o-top');
    await configured(CONFIG_MAPS);
    await isIn('unasked', 'o-child', 'o-grandchild', 'o-top');
    // Gone from the list: what is there stays, and is anybody's to change.
    await configured();
    await tree().until(async () => void (await tree().must(tree().request('DELETE', at('o-child', 'unasked')))));
    await isIn('unasked', 'o-grandchild', 'o-top');
  });
}
