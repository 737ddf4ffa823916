import { expect, it } from 'vitest';
import type { Tree } from './tree.ts';

/** HNC's documented scenarios about the tree itself: the quick start, and the issues that its own tests guard. */
export function treeLifeSuite(tree: () => Tree): void {
  it('quick start: parents, labels, a refused cycle, and a service that moves to another team', async () => {
    await tree().namespaces('qs-org', 'qs-team-a', 'qs-service-1');
    await tree().parent('qs-team-a', 'qs-org');
    await tree().parent('qs-service-1', 'qs-team-a');
    expect((await tree().configure('qs-org', { parent: 'qs-team-a' })).status).toBe(409);
    await tree().until(async () =>
      expect(await tree().depths('qs-service-1')).toEqual({ 'qs-service-1': '0', 'qs-team-a': '1', 'qs-org': '2' }),
    );
    await tree().subnamespace('qs-org', 'qs-team-b');
    expect((await tree().hierarchy('qs-org')).status.children).toEqual(['qs-team-a', 'qs-team-b']);
    await tree().parent('qs-service-1', 'qs-team-b');
    await tree().until(async () => expect((await tree().hierarchy('qs-team-a')).status?.children).toBeUndefined());
    await tree().until(async () =>
      expect(await tree().depths('qs-service-1')).toEqual({ 'qs-service-1': '0', 'qs-team-b': '1', 'qs-org': '2' }),
    );
  });

  it('a plain namespace has its own label and no HierarchyConfiguration', async () => {
    await tree().namespaces('plain');
    expect(await tree().labels('plain')).toMatchObject({ 'hnc.x-k8s.io/included-namespace': 'true', 'plain.tree.hnc.x-k8s.io/depth': '0' });
    expect(await tree().hierarchy('plain')).toBeUndefined();
  });

  it('subnamespaces come with their anchors, hold their parent, and go with them', async () => {
    await tree().namespaces('life');
    await tree().subnamespace('life', 'life-a');
    await tree().subnamespace('life-a', 'life-dev');
    const created = (await tree().request('GET', '/api/v1/namespaces/life-a')).body.metadata;
    expect(created.annotations['hnc.x-k8s.io/subnamespace-of']).toBe('life');
    expect((await tree().anchor('life', 'life-a')).body.metadata.finalizers).toEqual(['hnc.x-k8s.io']);
    await tree().until(async () => expect((await tree().hierarchy('life')).metadata.finalizers).toEqual(['hnc.x-k8s.io/hasSubnamespace']));
    expect((await tree().createAnchor('life', 'life-dev')).status).toBe(409);
    expect((await tree().deleteNamespace('life-a')).status).toBe(403);
    expect((await tree().deleteAnchor('life', 'life-a')).status).toBe(403);
    await tree().must(tree().deleteAnchor('life-a', 'life-dev'));
    await tree().gone('life-dev');
    await tree().until(async () => expect((await tree().anchor('life-a', 'life-dev')).status).toBe(404));
    // Now a leaf: it may go.
    await tree().until(async () => void (await tree().must(tree().deleteAnchor('life', 'life-a'))));
    await tree().gone('life-a');
    await tree().until(async () => expect((await tree().hierarchy('life')).metadata.finalizers).toBeUndefined());
  });

  it('cascading deletion takes subnamespaces of all depths, and leaves full namespaces as orphans (#501)', async () => {
    await tree().namespaces('casc', 'casc-full');
    await tree().subnamespace('casc', 'casc-1');
    await tree().subnamespace('casc-1', 'casc-1-1');
    await tree().subnamespace('casc-1-1', 'casc-1-1-1');
    await tree().subnamespace('casc', 'casc-2');
    await tree().parent('casc-full', 'casc');
    await tree().subnamespace('casc-full', 'casc-full-sub');
    expect((await tree().deleteNamespace('casc')).status).toBe(403);
    await tree().cascades('casc');
    await tree().until(async () => void (await tree().must(tree().deleteNamespace('casc'))));
    await tree().gone('casc', 'casc-1', 'casc-1-1', 'casc-1-1-1', 'casc-2');
    await tree().until(async () => {
      expect(await tree().conditions('casc-full')).toEqual(['ParentMissing: Parent "casc" does not exist']);
      expect(await tree().conditions('casc-full-sub')).toEqual([
        'AncestorHaltActivities: Propagation paused in "casc-full-sub" and its descendants due to ActivitiesHalted condition on ancestor "casc-full"',
      ]);
    });
    expect(await tree().exists('casc-full-sub')).toBe(true);
    const halted = (await tree().hierarchy('casc-full-sub')).status.conditions[0];
    expect(halted).toMatchObject({ type: 'ActivitiesHalted', status: 'True', lastTransitionTime: '1970-01-01T00:00:00Z' });
    // An orphan may be made a root again, and then all is well.
    await tree().must(tree().configure('casc-full', { parent: '' }));
    await tree().until(async () =>
      expect([...(await tree().conditions('casc-full')), ...(await tree().conditions('casc-full-sub'))]).toEqual([]),
    );
  });

  it('a cascade below an anchor ends at the anchor’s parent, and full children stay (quick start)', async () => {
    await tree().namespaces('sub-top', 'sub-staging');
    await tree().subnamespace('sub-top', 'sub-service');
    await tree().parent('sub-staging', 'sub-service');
    await tree().cascades('sub-service');
    await tree().until(async () => void (await tree().must(tree().deleteAnchor('sub-top', 'sub-service'))));
    await tree().gone('sub-service');
    expect(await tree().exists('sub-top')).toBe(true);
    await tree().until(async () =>
      expect(await tree().conditions('sub-staging')).toEqual(['ParentMissing: Parent "sub-service" does not exist']),
    );
  });

  it('a namespace that is made again has nothing of its predecessor (#1155)', async () => {
    await tree().namespaces('again');
    await tree().subnamespace('again', 'again-child');
    await tree().cascades('again');
    await tree().until(async () => void (await tree().must(tree().deleteNamespace('again'))));
    await tree().gone('again', 'again-child');
    await tree().namespaces('again');
    expect(await tree().hierarchy('again')).toBeUndefined();
    expect(await tree().depths('again')).toEqual({ again: '0' });
  });

  it('an anchor that lost its namespace does not take it (#1149), and one that is missing is told (#501)', async () => {
    await tree().namespaces('anch');
    await tree().subnamespace('anch', 'anch-child');
    await tree().must(tree().patchNamespace('anch-child', { annotations: { 'hnc.x-k8s.io/subnamespace-of': null } }));
    await tree().until(async () => expect((await tree().anchor('anch', 'anch-child')).body.status.status).toBe('Conflict'));
    await tree().must(tree().deleteAnchor('anch', 'anch-child'));
    await tree().until(async () => expect((await tree().anchor('anch', 'anch-child')).status).toBe(404));
    expect(await tree().exists('anch-child')).toBe(true);
    // Still a child, as a full namespace; the annotation makes it a subnamespace again, one without an anchor.
    expect((await tree().hierarchy('anch-child')).spec.parent).toBe('anch');
    await tree().must(tree().patchNamespace('anch-child', { annotations: { 'hnc.x-k8s.io/subnamespace-of': 'anch' } }));
    await tree().until(async () =>
      expect(await tree().conditions('anch-child')).toEqual(['SubnamespaceAnchorMissing: The anchor is missing in the parent namespace']),
    );
    await tree().subnamespace('anch', 'anch-child');
    await tree().until(async () => expect(await tree().conditions('anch-child')).toEqual([]));
  });

  it('the annotation of a subnamespace decides its parent, whatever the configuration says', async () => {
    await tree().namespaces('decides-a', 'decides-b');
    await tree().subnamespace('decides-a', 'decides-child');
    await tree().must(tree().patchNamespace('decides-child', { annotations: { 'hnc.x-k8s.io/subnamespace-of': 'decides-b' } }));
    await tree().until(async () => {
      expect((await tree().hierarchy('decides-child')).spec.parent).toBe('decides-b');
      expect((await tree().hierarchy('decides-b'))?.status.children).toEqual(['decides-child']);
      expect(await tree().depths('decides-child')).toEqual({ 'decides-child': '0', 'decides-b': '1' });
      expect((await tree().anchor('decides-a', 'decides-child')).body.status.status).toBe('Conflict');
    });
  });

  it('a HierarchyConfiguration that is deleted goes at once, and comes back where there is something to say', async () => {
    await tree().namespaces('hc-top', 'hc-full');
    await tree().subnamespace('hc-top', 'hc-sub');
    await tree().parent('hc-full', 'hc-top');
    const { uid } = (await tree().hierarchy('hc-sub')).metadata;
    await tree().must(tree().deleteHierarchy('hc-sub'));
    await tree().until(async () => {
      const found = await tree().hierarchy('hc-sub');
      expect(found?.spec.parent).toBe('hc-top');
      expect(found.metadata.uid).not.toBe(uid);
    });
    await tree().must(tree().deleteHierarchy('hc-full'));
    await tree().until(async () => expect((await tree().hierarchy('hc-top')).status.children).toEqual(['hc-sub']));
    expect(await tree().hierarchy('hc-full')).toBeUndefined();
    await tree().until(async () => expect(await tree().depths('hc-full')).toEqual({ 'hc-full': '0' }));
  });

  it('an external hierarchy keeps its labels, which are added to those of its children', async () => {
    const external = { annotations: { 'hnc.x-k8s.io/managed-by': 'others' } };
    await tree().must(tree().createNamespace('ext', external));
    await tree().namespaces('ext-child');
    await tree().until(async () => expect(await tree().depths('ext')).toEqual({ ext: '0' }));
    await tree().parent('ext-child', 'ext');
    expect((await tree().configure('ext', { parent: 'ext-child' })).status).toBe(403);
    await tree().until(async () => expect(await tree().depths('ext-child')).toEqual({ 'ext-child': '0', ext: '1' }));
  });
}
