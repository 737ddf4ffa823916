import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tree } from '../../conformance/tenancy/tree.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let target: EmbeddedTarget;
const tree = (): Tree => new Tree(target);
beforeAll(async () => {
  target = await startEmbeddedTarget(ownCustomResourceDefinitions);
  await tree().must(tree().createNamespace('top'));
  await tree().must(tree().configure('top', {}));
  await tree().namespaces('full');
  await tree().subnamespace('top', 'sub');
  await tree().subnamespace('sub', 'subsub');
  await tree().parent('full', 'sub');
  await tree().until(async () => expect(await tree().depths('full')).toEqual({ full: '0', sub: '1', top: '2' }));
}, 60_000);
afterAll(() => target?.close());

async function deleteDefinition(plural: string): Promise<void> {
  const path = `${DEFINITIONS}/${plural}.hnc.x-k8s.io`;
  await tree().must(tree().request('DELETE', path));
  await tree().until(async () => expect((await tree().request('GET', path)).status).toBe(404));
}

/** One story: HNC is taken away piece by piece, as by somebody who uninstalls it. */
test('the definition of anchors, goes with all anchors, and leaves the namespaces', async () => {
  await deleteDefinition('subnamespaceanchors');
  for (const name of ['top', 'sub', 'subsub', 'full']) {
    const { status } = (await tree().request('GET', `/api/v1/namespaces/${name}`)).body;
    expect([name, status.phase]).toEqual([name, 'Active']);
  }
  expect(await tree().depths('full')).toEqual({ full: '0', sub: '1', top: '2' });
});

test('the definition of HierarchyConfigurations, goes too, and the labels stay as they were', async () => {
  await deleteDefinition('hierarchyconfigurations');
  await tree().must(tree().patchNamespace('full', { annotations: { 'example.com/note': 'x' } }));
  // There is nothing to wait for: it is asked for a while, in which it could go wrong.
  for (let look = 0; look < 20; look++) {
    expect(await tree().depths('full')).toEqual({ full: '0', sub: '1', top: '2' });
    expect(await tree().depths('subsub')).toEqual({ subsub: '0', sub: '1', top: '2' });
    await new Promise((resolve) => void setTimeout(resolve, 25));
  }
});
