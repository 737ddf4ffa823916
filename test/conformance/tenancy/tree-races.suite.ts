import { beforeAll, expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { Tree } from './tree.ts';

const FINALIZER = 'finalizer.keda.sh';
const SCALED = '/apis/keda.sh/v1alpha1/namespaces/drain-child/scaledobjects';
const TREE_ACCOUNT = 'system:serviceaccount:tenantry-system:tenantry-tenancy';
const TREE_GROUP = 'system:serviceaccounts:tenantry-system';

const KEDA_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'scaledobjects.keda.sh' },
  spec: {
    group: 'keda.sh',
    scope: 'Namespaced',
    names: { plural: 'scaledobjects', singular: 'scaledobject', kind: 'ScaledObject', listKind: 'ScaledObjectList' },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

/** What happens when two things happen at once, or what should not happen happened. */
export function treeRacesSuite(tree: () => Tree): void {
  it('two writers who make each other’s child never leave a cycle unsaid, and it can be undone', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [`cyc-a${round}`, `cyc-b${round}`];
      await tree().namespaces(a, b);
      const answers = await Promise.all([tree().configure(a, { parent: b }), tree().configure(b, { parent: a })]);
      if (answers.every(({ status }) => status < 300)) {
        const message = `InCycle: Namespace is a member of the cycle: ${a} <- ${b} <- ${a}`;
        await tree().until(async () => expect([await tree().conditions(a), await tree().conditions(b)]).toEqual([[message], [message]]));
        await tree().until(async () => expect(await tree().depths(a)).toEqual({ [a]: '0' }));
        await tree().until(async () => void (await tree().must(tree().configure(a, { parent: '' }))));
      }
      await tree().until(async () => expect([...(await tree().conditions(a)), ...(await tree().conditions(b))]).toEqual([]));
    }
  });

  it('an anchor that is deleted while its namespace is made leaves nothing behind', async () => {
    await tree().namespaces('hasty');
    const names = Array.from({ length: 10 }, (_, i) => `hasty-${i}`);
    await Promise.all(
      names.map(async (name) => {
        await tree().must(tree().createAnchor('hasty', name));
        await tree().must(tree().deleteAnchor('hasty', name));
      }),
    );
    for (const name of names) {
      await tree().until(async () => expect((await tree().anchor('hasty', name)).status).toBe(404), 60_000);
      await tree().gone(name);
    }
    await tree().until(async () => expect((await tree().hierarchy('hasty'))?.metadata.finalizers).toBeUndefined());
  });

  it('of two anchors for one name one has the namespace, and the other can go without it (#797)', async () => {
    await tree().namespaces('twice-a', 'twice-b');
    // As two writers would who are both let through: the rules of admission are not asked.
    const past = tree().as(TREE_ACCOUNT, TREE_GROUP);
    await Promise.all([past.must(past.createAnchor('twice-a', 'twice')), past.must(past.createAnchor('twice-b', 'twice'))]);
    const states = async () =>
      Promise.all(['twice-a', 'twice-b'].map(async (parent) => (await tree().anchor(parent, 'twice')).body.status?.status as string));
    await tree().until(async () => expect((await states()).sort()).toEqual(['Conflict', 'Ok']));
    const loser = (await states())[0] === 'Conflict' ? 'twice-a' : 'twice-b';
    await tree().must(tree().deleteAnchor(loser, 'twice'));
    await tree().until(async () => expect((await tree().anchor(loser, 'twice')).status).toBe(404));
    expect(await tree().exists('twice')).toBe(true);
  });

  it('a subnamespace that somebody with the power took away is made again', async () => {
    await tree().namespaces('again-top');
    await tree().subnamespace('again-top', 'again-sub');
    const { uid } = (await tree().request('GET', '/api/v1/namespaces/again-sub')).body.metadata;
    const past = tree().as(TREE_ACCOUNT, TREE_GROUP);
    await past.must(past.deleteNamespace('again-sub'));
    await tree().until(async () => {
      const { metadata, status } = (await tree().request('GET', '/api/v1/namespaces/again-sub')).body;
      expect([metadata?.uid === uid, status?.phase]).toEqual([false, 'Active']);
    }, 60_000);
    await tree().until(async () => expect((await tree().anchor('again-top', 'again-sub')).body.status.status).toBe('Ok'));
  });

  it('an anchor for an unmanaged name that slipped in is forbidden, holds nothing, and can go', async () => {
    await tree().namespaces('slipped');
    const past = tree().as(TREE_ACCOUNT, TREE_GROUP);
    await past.must(past.createAnchor('slipped', 'kube-slipped'));
    await tree().until(async () => {
      const { body } = await tree().anchor('slipped', 'kube-slipped');
      expect([body.status?.status, body.metadata.finalizers]).toEqual(['Forbidden', undefined]);
    });
    await tree().must(tree().deleteAnchor('slipped', 'kube-slipped'));
    expect((await tree().anchor('slipped', 'kube-slipped')).status).toBe(404);
  });

  it('labels that somebody with the power changed are put right', async () => {
    await tree().namespaces('right');
    const past = tree().as(TREE_ACCOUNT, TREE_GROUP);
    const spoiled = { 'right.tree.hnc.x-k8s.io/depth': '5', 'x.tree.hnc.x-k8s.io/depth': '1', 'hnc.x-k8s.io/included-namespace': null };
    await past.must(past.patchNamespace('right', { labels: spoiled }));
    await tree().until(async () => {
      expect(await tree().depths('right')).toEqual({ right: '0' });
      expect((await tree().labels('right'))['hnc.x-k8s.io/included-namespace']).toBe('true');
    });
  });

  it('nothing is written where nothing changed', async () => {
    await tree().namespaces('quiet');
    await tree().subnamespace('quiet', 'quiet-sub');
    const versions = async (): Promise<string[]> => {
      const objects: Json[] = [
        (await tree().request('GET', '/api/v1/namespaces/quiet')).body,
        (await tree().request('GET', '/api/v1/namespaces/quiet-sub')).body,
        (await tree().anchor('quiet', 'quiet-sub')).body,
        await tree().hierarchy('quiet'),
        await tree().hierarchy('quiet-sub'),
      ];
      return objects.map(({ metadata }) => metadata.resourceVersion);
    };
    await tree().until(async () => expect((await tree().labels('quiet-sub'))['quiet.tree.hnc.x-k8s.io/depth']).toBe('1'));
    const before = await versions();
    await tree().must(tree().patchNamespace('quiet', { annotations: { 'example.com/note': 'x' } }));
    // What the controllers had to say to that would be said before this.
    await tree().namespaces('quiet-later');
    await tree().subnamespace('quiet-later', 'quiet-later-sub');
    const after = await versions();
    expect(after.slice(1)).toEqual(before.slice(1));
  });

  describeDrain(tree);
}

function describeDrain(tree: () => Tree): void {
  beforeAll(async () => {
    await tree().request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', KEDA_DEFINITION);
    await tree().until(async () => expect((await tree().request('GET', '/apis/keda.sh/v1alpha1/scaledobjects')).status).toBe(200));
  });

  it('what a controller inside has to finish goes before its namespace and the rights in it do', async () => {
    await tree().namespaces('drain');
    await tree().subnamespace('drain', 'drain-child');
    const scaled = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web', finalizers: [FINALIZER] } };
    await tree().must(tree().request('POST', SCALED, scaled));
    const rights = '/apis/rbac.authorization.k8s.io/v1/namespaces/drain-child/roles';
    await tree().must(tree().request('POST', rights, { metadata: { name: 'keda' }, rules: [] }));
    await tree().must(tree().deleteAnchor('drain', 'drain-child'));
    await tree().until(async () => expect((await tree().request('GET', `${SCALED}/web`)).body.metadata.deletionTimestamp).toBeDefined());
    expect((await tree().request('GET', '/api/v1/namespaces/drain-child')).body.metadata.deletionTimestamp).toBeUndefined();
    expect((await tree().request('GET', `${rights}/keda`)).status).toBe(200);
    await tree().must(tree().request('PATCH', `${SCALED}/web`, { metadata: { finalizers: null } }, 'application/merge-patch+json'));
    await tree().gone('drain-child');
    await tree().until(async () => expect((await tree().anchor('drain', 'drain-child')).status).toBe(404));
  });
}
