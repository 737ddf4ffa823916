import { beforeAll, expect, it } from 'vitest';
import type { Answer } from '../../support/api-target.ts';
import type { Tree } from './tree.ts';

const TENANT = 'tenantry.dev/tenant';
const ROLE = 'tenantry.dev/role';
const OWNER = 'olga';

type Attempt = [name: string, ask: (owner: Tree) => Promise<Answer>, why: string];

/** What an owner tries who may do everything in every namespace, so that nothing but these rules stands in the way. */
const ATTEMPTS: Attempt[] = [
  [
    'a namespace with another name',
    (owner) => owner.createAnchor('tb', 'mine'),
    'namespaces of tenant "tb" are named "tb--<name>"; use "tb--mine"',
  ],
  ['a namespace named like another tenant’s', (owner) => owner.createAnchor('tb', 'other--x'), 'namespaces of tenant "tb" are named'],
  ['the system namespace', (owner) => owner.createAnchor('tb--a', 'tb--sys'), '"tb--sys" is the platform\'s namespace of tenant "tb"'],
  [
    'a namespace below the platform’s',
    (owner) => owner.createAnchor('tb--plugin', 'tb--x'),
    'namespace "tb--plugin" belongs to the platform',
  ],
  [
    'a parent for the root',
    (owner) => owner.configure('tb', { parent: 'free' }),
    'namespace "tb" is the root of a tenant and cannot have a parent',
  ],
  [
    'leaving the tree',
    (owner) => owner.configure('tb--full', { parent: '' }),
    'only the platform moves a namespace out of the tree of tenant "tb"',
  ],
  [
    'leaving the tree for a namespace that may not exist',
    (owner) => owner.configure('tb--full', { parent: 'who-knows' }),
    'only the platform moves a namespace out of the tree of tenant "tb"',
  ],
  [
    'leaving the tree by losing its configuration',
    (owner) => owner.deleteHierarchy('tb--full'),
    'only the platform moves a namespace out of the tree of tenant "tb"',
  ],
  [
    'bringing a namespace in',
    (owner) => owner.configure('free', { parent: 'tb--a' }),
    'only the platform moves a namespace into the tree of tenant "tb"',
  ],
  [
    'bringing a namespace in by its annotation',
    (owner) => owner.patchNamespace('free', { annotations: { 'hnc.x-k8s.io/subnamespace-of': 'tb' } }),
    'annotation "hnc.x-k8s.io/subnamespace-of" of a namespace of tenant "tb" can only be set by the platform',
  ],
  [
    'making one inside',
    (owner) => owner.createNamespace('tb--new', { annotations: { 'hnc.x-k8s.io/subnamespace-of': 'tb' } }),
    'annotation "hnc.x-k8s.io/subnamespace-of" of a namespace of tenant "tb" can only be set by the platform',
  ],
  [
    'taking one out by its annotation',
    (owner) => owner.patchNamespace('tb--a', { annotations: { 'hnc.x-k8s.io/subnamespace-of': null } }),
    'annotation "hnc.x-k8s.io/subnamespace-of" of a namespace of tenant "tb" can only be set by the platform',
  ],
  [
    'moving the platform’s',
    (owner) => owner.configure('tb--plugin', { parent: 'tb--a' }),
    'namespace "tb--plugin" belongs to the platform',
  ],
  [
    'allowing cascades in the platform’s',
    (owner) => owner.configure('tb--plugin', { allowCascadingDeletion: true }),
    'belongs to the platform',
  ],
  [
    'a tenant’s label on a namespace',
    (owner) => owner.patchNamespace('free', { labels: { [TENANT]: 'tb' } }),
    `label "${TENANT}" can only be set by the platform`,
  ],
  [
    'a tenant’s label on a new namespace',
    (owner) => owner.createNamespace('spoof', { labels: { [TENANT]: 'spoof' } }),
    'can only be set by the platform',
  ],
  [
    'the loss of a tenant’s label',
    (owner) => owner.patchNamespace('tb--a', { labels: { [TENANT]: null } }),
    `label "${TENANT}" can only be set by the platform`,
  ],
  ['another tenant’s label', (owner) => owner.patchNamespace('tb--a', { labels: { [TENANT]: 'free' } }), 'can only be set by the platform'],
  ['a role', (owner) => owner.patchNamespace('tb--a', { labels: { [ROLE]: 'plugin' } }), `label "${ROLE}" can only be set by the platform`],
  [
    'a larger share',
    (owner) => owner.patchNamespace('tb--a', { annotations: { 'tenantry.dev/run-share': '100' } }),
    'annotation "tenantry.dev/run-share" can only be set by the platform',
  ],
  [
    'a label by way of the status',
    (owner) =>
      owner.request(
        'PATCH',
        '/api/v1/namespaces/free/status',
        { metadata: { labels: { [TENANT]: 'free' } } },
        'application/merge-patch+json',
      ),
    `label "${TENANT}" can only be set by the platform`,
  ],
  [
    'a change of the platform’s namespace',
    (owner) => owner.patchNamespace('tb--plugin', { labels: { a: 'b' } }),
    'belongs to the platform',
  ],
  ['the end of the platform’s namespace', (owner) => owner.deleteNamespace('tb--plugin'), 'belongs to the platform'],
  ['the end of the root', (owner) => owner.deleteNamespace('tb'), 'contains subnamespaces'],
];

/** What keeps a tenant's owners inside their tree, and others out of it. */
export function tenantBoundsSuite(tree: () => Tree): void {
  beforeAll(async () => {
    await tree().must(tree().createNamespace('tb', { labels: { [TENANT]: 'tb' } }));
    await tree().namespaces('free', 'tb--full', 'tb--plugin');
    await tree().subnamespace('tb', 'tb--a');
    await tree().parent('tb--full', 'tb--a');
    await tree().parent('tb--plugin', 'tb');
    await tree().must(tree().patchNamespace('tb--plugin', { labels: { [ROLE]: 'plugin' } }));
    const binding = {
      metadata: { name: 'olga-everything' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: OWNER }],
    };
    await tree().must(tree().request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding));
    await tree().until(async () => {
      for (const name of ['tb--a', 'tb--full', 'tb--plugin']) expect((await tree().labels(name))[TENANT]).toBe('tb');
    });
  }, 120_000);

  it.each(ATTEMPTS)('%s is refused', async (_, ask, why) => {
    let answer = await ask(tree().as(OWNER));
    for (let attempt = 0; attempt < 20 && String(answer.body.message).includes('the object has been modified'); attempt++)
      answer = await ask(tree().as(OWNER));
    expect(answer.body.message).toContain(why);
    expect(answer.status).toBe(403);
  });

  it('an owner makes and ends namespaces of his own, which are his tenant’s from the first moment', async () => {
    const owner = tree().as(OWNER);
    await owner.must(owner.createAnchor('tb--a', 'tb--b'));
    await tree().until(async () => expect(await tree().exists('tb--b')).toBe(true));
    expect(await tree().labels('tb--b')).toMatchObject({ [TENANT]: 'tb', 'tb.tree.hnc.x-k8s.io/depth': '2' });
    await tree().until(async () => expect((await tree().anchor('tb--a', 'tb--b')).body.status?.status).toBe('Ok'));
    await owner.must(owner.deleteAnchor('tb--a', 'tb--b'));
    await tree().gone('tb--b');
  });

  it('a name makes nobody a member, and a full namespace may move within the tree', async () => {
    await tree().namespaces('tb--stranger');
    expect((await tree().labels('tb--stranger'))[TENANT]).toBeUndefined();
    const owner = tree().as(OWNER);
    await owner.until(async () => void (await owner.must(owner.configure('tb--full', { parent: 'tb' }))));
  });

  it('a tenant’s namespace that loses its parent stays the tenant’s', async () => {
    await tree().subnamespace('tb--a', 'tb--lost');
    await tree().parent('tb--full', 'tb--lost');
    await tree().cascades('tb--lost');
    await tree().until(async () => void (await tree().must(tree().deleteAnchor('tb--a', 'tb--lost'))));
    await tree().gone('tb--lost');
    await tree().until(async () => expect((await tree().conditions('tb--full')).join()).toContain('ParentMissing'));
    expect((await tree().labels('tb--full'))[TENANT]).toBe('tb');
    const owner = tree().as(OWNER);
    const leaving = await owner.configure('tb--full', { parent: '' });
    expect(leaving.body.message).toContain('only the platform moves a namespace out of the tree of tenant "tb"');
  });
}
