import { beforeAll, expect, it } from 'vitest';
import type { Answer } from '../../support/api-target.ts';
import type { Tree } from './tree.ts';

type Refusal = [name: string, ask: (tree: Tree) => Promise<Answer>, code: number, webhook: string, message: string];

const ANCHORS = 'subnamespaceanchors.hnc.x-k8s.io';
const HIERARCHIES = 'hierarchyconfigurations.hnc.x-k8s.io';
const NAMESPACES = 'namespaces.hnc.x-k8s.io';
const HIERARCHY = `${HIERARCHIES} "hierarchy"`;
const GUIDE =
  'See https://github.com/kubernetes-sigs/hierarchical-namespaces/blob/master/docs/user-guide/concepts.md#included-namespace-label for detail';
const LONG = 'r'.repeat(64);
const QUALIFIED_NAME_RULES =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const DEPTH = '.tree.hnc.x-k8s.io/depth';
const excluded = 'excluded by the HNC administrator';

/** Who is not allowed everything: may write in `r-child` and `r-other`, and nowhere above. */
const EVE = 'eve';

const REFUSALS: Refusal[] = [
  [
    'an anchor whose name is no label',
    (tree) => tree.createAnchor('r-top', LONG),
    422,
    ANCHORS,
    `SubnamespaceAnchor.hnc.x-k8s.io "${LONG}" is invalid: metadata.name: Invalid value: "${LONG}": not a valid namespace name: must be no more than 63 characters`,
  ],
  [
    'an anchor with a label that is not managed',
    (tree) => tree.createAnchor('r-top', 'r-new', { labels: [{ key: 'a', value: 'b' }] }),
    422,
    ANCHORS,
    'SubnamespaceAnchor.hnc.x-k8s.io "r-new" is invalid: spec.labels: Invalid value: "a": not a managed label and cannot be configured',
  ],
  [
    'an anchor with an annotation that is not managed, and a key that is none',
    (tree) =>
      tree.createAnchor('r-top', 'r-new', {
        annotations: [
          { key: 'a', value: 'b' },
          { key: '!', value: '' },
        ],
      }),
    422,
    ANCHORS,
    `SubnamespaceAnchor.hnc.x-k8s.io "r-new" is invalid: [spec.annotations: Invalid value: "a": not a managed annotation and cannot be configured, spec.annotations: Invalid value: "!": ${QUALIFIED_NAME_RULES}]`,
  ],
  [
    'an anchor in an unmanaged namespace',
    (tree) => tree.createAnchor('kube-public', 'r-new'),
    403,
    ANCHORS,
    `${ANCHORS} "kube-public" is forbidden: cannot create a subnamespace in the unmanaged namespace "kube-public" (${excluded})`,
  ],
  [
    'an anchor for an unmanaged name',
    (tree) => tree.createAnchor('r-top', 'kube-public'),
    403,
    ANCHORS,
    `${ANCHORS} "kube-public" is forbidden: cannot create a subnamespace using the unmanaged namespace name "kube-public" (${excluded})`,
  ],
  [
    'an anchor for a namespace that exists',
    (tree) => tree.createAnchor('r-top', 'r-other'),
    409,
    ANCHORS,
    `Operation cannot be fulfilled on ${ANCHORS} "r-other": cannot create a subnamespace using an existing namespace`,
  ],
  [
    'deleting the anchor of a subnamespace that has children',
    (tree) => tree.deleteAnchor('r-top', 'r-sub'),
    403,
    ANCHORS,
    `${ANCHORS} "r-sub" is forbidden: subnamespace r-sub is not a leaf and doesn't allow cascading deletion. Please set allowCascadingDeletion flag or make it a leaf first`,
  ],
  [
    'a configuration in an unmanaged namespace',
    (tree) => tree.configure('kube-public', { parent: 'r-top' }),
    403,
    HIERARCHIES,
    `${HIERARCHY} is forbidden: namespace "kube-public" is not managed by HNC (${excluded}) and cannot be set as a child of another namespace`,
  ],
  [
    'an unmanaged parent',
    (tree) => tree.configure('r-other', { parent: 'kube-public' }),
    403,
    HIERARCHIES,
    `${HIERARCHY} is forbidden: namespace "kube-public" is not managed by HNC (${excluded}) and cannot be set as the parent of another namespace`,
  ],
  [
    'a configuration with labels that are not managed',
    (tree) => tree.configure('r-other', { labels: [{ key: 'a', value: 'b!' }] }),
    422,
    HIERARCHIES,
    "HierarchyConfiguration.hnc.x-k8s.io \"hierarchy\" is invalid: [spec.labels: Invalid value: \"a\": not a managed label and cannot be configured, spec.labels[a]: Invalid value: \"b!\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]",
  ],
  [
    'a change below a namespace in trouble',
    (tree) => tree.configure('r-below-orphan', { parent: 'r-top' }),
    403,
    HIERARCHIES,
    `${HIERARCHY} is forbidden: ancestor "r-orphan" of namespace "r-below-orphan" has a critical condition, which must be resolved before any changes can be made to the hierarchy configuration`,
  ],
  [
    'a parent for a namespace that others manage',
    (tree) => tree.configure('r-ext', { parent: 'r-top' }),
    403,
    HIERARCHIES,
    `${HIERARCHY} is forbidden: namespace "r-ext" is managed by "others", not HNC, so it cannot have a parent in HNC`,
  ],
  [
    'another parent for a subnamespace',
    (tree) => tree.configure('r-sub', { parent: 'r-other' }),
    409,
    HIERARCHIES,
    `Operation cannot be fulfilled on ${HIERARCHY}: illegal parent: Cannot set the parent of "r-sub" to "r-other" because it's a subnamespace of "r-top"`,
  ],
  [
    'no parent for a subnamespace',
    (tree) => tree.configure('r-sub', { parent: '' }),
    409,
    HIERARCHIES,
    `Operation cannot be fulfilled on ${HIERARCHY}: illegal parent: Cannot set the parent of "r-sub" to "<none>" because it's a subnamespace of "r-top"`,
  ],
  [
    'a parent that does not exist',
    (tree) => tree.configure('r-other', { parent: 'r-nowhere' }),
    403,
    HIERARCHIES,
    `${HIERARCHY} is forbidden: requested parent "r-nowhere" does not exist`,
  ],
  [
    'oneself as parent',
    (tree) => tree.configure('r-other', { parent: 'r-other' }),
    409,
    HIERARCHIES,
    `Operation cannot be fulfilled on ${HIERARCHY}: illegal parent: "r-other" cannot be set as its own parent`,
  ],
  [
    'a descendant as parent',
    (tree) => tree.configure('r-top', { parent: 'r-leaf' }),
    409,
    HIERARCHIES,
    `Operation cannot be fulfilled on ${HIERARCHY}: illegal parent: cycle when making "r-leaf" the parent of "r-top": current ancestry is r-leaf -> r-sub -> r-top`,
  ],
  [
    'a parent whose objects would replace those below',
    (tree) => tree.configure('r-other', { parent: 'r-top' }),
    409,
    HIERARCHIES,
    `Operation cannot be fulfilled on ${HIERARCHY}: Cannot update hierarchy because it would overwrite the following object(s):\n  * Namespace "r-other": same (rbac.authorization.k8s.io/v1, Kind=Role)\nTo fix this, please rename or remove the conflicting objects first.`,
  ],
  [
    'a move into a tree that is not the user’s',
    (tree) => tree.as(EVE).configure('r-eve', { parent: 'r-leaf' }),
    401,
    HIERARCHIES,
    'User eve is not authorized to modify the subtree of r-leaf, which is the proposed parent',
  ],
  [
    'leaving a tree whose root is not the user’s',
    (tree) => tree.as(EVE).configure('r-child', { parent: '' }),
    401,
    HIERARCHIES,
    'User eve is not authorized to modify the subtree of r-top, which is the current root ancestor',
  ],
  [
    'a move within a tree above the user’s part',
    (tree) => tree.as(EVE).configure('r-child', { parent: 'r-leaf' }),
    401,
    HIERARCHIES,
    'User eve is not authorized to modify the subtree of r-top, which is the most recent common ancestor of current parent "r-top" and proposed parent "r-leaf"',
  ],
  [
    'a namespace with a tree label',
    (tree) => tree.createNamespace('r-new', { labels: { [`r-top${DEPTH}`]: '1' } }),
    403,
    NAMESPACES,
    `namespaces "r-new" is forbidden: cannot set or modify tree label "r-top${DEPTH}" in namespace "r-new"; these can only be managed by HNC`,
  ],
  [
    'a changed tree label',
    (tree) => tree.patchNamespace('r-child', { labels: { [`r-top${DEPTH}`]: '7' } }),
    403,
    NAMESPACES,
    `namespaces "r-child" is forbidden: cannot set or modify tree label "r-top${DEPTH}" in namespace "r-child"; these can only be managed by HNC`,
  ],
  [
    'a removed tree label',
    (tree) => tree.patchNamespace('r-child', { labels: { [`r-top${DEPTH}`]: null } }),
    403,
    NAMESPACES,
    `namespaces "r-child" is forbidden: cannot remove tree label "r-top${DEPTH}" in namespace "r-child"; these can only be managed by HNC`,
  ],
  [
    'a namespace that wants to be left out',
    (tree) => tree.createNamespace('r-new', { labels: { 'hnc.x-k8s.io/included-namespace': 'false' } }),
    403,
    NAMESPACES,
    `namespaces "r-new" is forbidden: you cannot change the value of the "hnc.x-k8s.io/included-namespace" label. It has to be set as true on all managed namespaces. ${GUIDE}`,
  ],
  [
    'an unmanaged namespace that wants to be one',
    (tree) => tree.patchNamespace('kube-public', { labels: { 'hnc.x-k8s.io/included-namespace': 'true' } }),
    403,
    '',
    `namespaces "kube-public" is forbidden: you cannot enforce webhook rules on this unmanaged namespace using the "hnc.x-k8s.io/included-namespace" label. ${GUIDE}`,
  ],
  [
    'an external manager for a namespace with a parent',
    (tree) => tree.patchNamespace('r-child', { annotations: { 'hnc.x-k8s.io/managed-by': 'others' } }),
    403,
    NAMESPACES,
    'namespaces "r-child" is forbidden: is a child of "r-top". Namespaces with parents defined by HNC cannot also be managed externally. To manage this namespace with "others", first make it a root in HNC',
  ],
  [
    'deleting a subnamespace without its anchor',
    (tree) => tree.deleteNamespace('r-leaf'),
    403,
    NAMESPACES,
    'namespaces "r-leaf" is forbidden: is a subnamespace. Please delete the anchor from the parent namespace r-sub to delete the subnamespace',
  ],
  [
    'deleting a namespace that others live below',
    (tree) => tree.deleteNamespace('r-top'),
    403,
    NAMESPACES,
    'namespaces "r-top" is forbidden: contains subnamespaces. Please remove all subnamespaces before deleting this namespace, or set \'allowCascadingDeletion\' to delete them automatically',
  ],
];

/** Every refusal of HNC about the tree, to the letter, and after it the world as it was. */
export function treeRefusalsSuite(tree: () => Tree): void {
  beforeAll(async () => {
    await tree().namespaces('r-top', 'r-other', 'r-child', 'r-eve', 'r-gone', 'r-orphan', 'r-below-orphan');
    await tree().must(tree().createNamespace('r-ext', { annotations: { 'hnc.x-k8s.io/managed-by': 'others' } }));
    await tree().subnamespace('r-top', 'r-sub');
    await tree().subnamespace('r-sub', 'r-leaf');
    await tree().parent('r-child', 'r-top');
    await tree().parent('r-orphan', 'r-gone');
    await tree().parent('r-below-orphan', 'r-orphan');
    await tree().must(tree().deleteNamespace('r-gone'));
    await tree().until(async () => expect((await tree().conditions('r-below-orphan')).join()).toContain('AncestorHaltActivities'));
    for (const namespace of ['r-top', 'r-other']) await tree().must(createRole(tree(), namespace, 'same', []));
    for (const namespace of ['r-child', 'r-eve']) await grant(tree(), namespace, EVE);
    // The objects are known when one of them has gone where it belongs.
    const copy = () => tree().request('GET', '/apis/rbac.authorization.k8s.io/v1/namespaces/r-leaf/roles/same');
    await tree().until(async () => expect((await copy()).status).toBe(200));
  }, 120_000);

  it.each(REFUSALS)('%s is refused', async (_, ask, code, webhook, message) => {
    // A write may meet one of the controllers'; that is another refusal.
    let answer = await ask(tree());
    for (let attempt = 0; attempt < 20 && String(answer.body.message).includes('the object has been modified'); attempt++)
      answer = await ask(tree());
    const prefix =
      webhook === '' ? /^admission webhook "[^"]+" denied the request: / : `admission webhook "${webhook}" denied the request: `;
    expect(String(answer.body.message).replace(prefix, '')).toBe(message);
    expect(answer.status).toBe(code);
  });
}

function createRole(tree: Tree, namespace: string, name: string, rules: object[]): Promise<Answer> {
  return tree.request('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, { metadata: { name }, rules });
}

/** Lets a user write the hierarchy of one namespace; the names of its objects are of this namespace, because roles go down the tree. */
async function grant(tree: Tree, namespace: string, user: string): Promise<void> {
  const name = `${user}-in-${namespace}`;
  const rules = [{ apiGroups: ['hnc.x-k8s.io'], resources: ['*'], verbs: ['*'] }];
  await tree.must(createRole(tree, namespace, name, rules));
  const binding = {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
  await tree.must(tree.request('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, binding));
}
