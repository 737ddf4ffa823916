import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tree } from '../../conformance/tenancy/tree.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

let target: EmbeddedTarget;
const tree = (): Tree => new Tree(target);
beforeAll(async () => {
  target = await startEmbeddedTarget(ownCustomResourceDefinitions);
  await tree().request('POST', '/api/v1/namespaces', { metadata: { name: 'tenantry-system' } });
  const data = { excludedNamespaces: 'left-out', managedNamespaceLabels: 'cost\\.example/.*', managedNamespaceAnnotations: 'note' };
  await tree().must(tree().request('POST', '/api/v1/namespaces/tenantry-system/configmaps', { metadata: { name: 'tenantry-tree' }, data }));
  await tree().must(tree().createNamespace('top'));
  await tree().must(tree().configure('top', {}));
}, 60_000);
afterAll(() => target?.close());

test('managed labels and annotations, are inherited, win over what is below, and cannot be set otherwise', async () => {
  const key = 'cost.example/centre';
  await tree().namespaces('free');
  await tree().must(tree().createAnchor('top', 'sub', { labels: [{ key, value: '7' }] }));
  await tree().until(async () => expect((await tree().labels('sub'))[key]).toBe('7'));
  await tree().until(async () => void (await tree().must(tree().configure('top', { annotations: [{ key: 'note', value: 'read me' }] }))));
  const annotations = async (name: string) => (await tree().request('GET', `/api/v1/namespaces/${name}`)).body.metadata.annotations ?? {};
  await tree().until(async () => expect((await annotations('sub'))['note']).toBe('read me'));
  await tree().until(async () => void (await tree().must(tree().configure('top', { labels: [{ key, value: '1' }] }))));
  await tree().until(async () => expect((await tree().labels('sub'))[key]).toBe('1'));
  await tree().must(tree().patchNamespace('free', { labels: { [key]: 'mine' } }));
  await tree().until(async () => expect((await tree().labels('free'))[key]).toBeUndefined());
});

test('an excluded namespace, has no labels and gets no parent', async () => {
  await tree().must(tree().createNamespace('left-out'));
  const { status, body } = await tree().configure('left-out', { parent: 'top' });
  expect([status, body.message]).toEqual([
    403,
    expect.stringContaining('namespace "left-out" is not managed by HNC (excluded by the HNC administrator)'),
  ]);
  expect(await tree().depths('left-out')).toEqual({});
});
