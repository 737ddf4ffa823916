import { expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';
import { podsToEvict } from './drain.ts';

function aPod(metadata: ObjectMeta = {}, phase = 'Running'): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'web', uid: 'u', ...metadata }, status: { phase } };
}

async function* each(pods: Iterable<KubeObject>): AsyncGenerator<KubeObject> {
  yield* pods;
}

const DAEMON = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };

it.each<[string, KubeObject, number, number]>([
  ['that runs is asked to go', aPod(), 1, 1],
  ['that goes is waited for', aPod({ deletionTimestamp: '2026-11-15T00:00:00Z' }), 1, 0],
  ['of a DaemonSet stays', aPod({ ownerReferences: [DAEMON] }), 0, 0],
  ['of the node itself stays', aPod({ annotations: { 'kubernetes.io/config.mirror': 'x' } }), 0, 0],
  ['that has ended stays', aPod({}, 'Succeeded'), 0, 0],
])('a Pod %s', async (_name, pod, left, asked) => {
  const found = await podsToEvict(each([pod]));
  expect([found.left, found.evict.length]).toEqual([left, asked]);
});

it('no more Pods than a node runs are looked at in one round', async () => {
  let looked = 0;
  function* endless(): Generator<KubeObject> {
    for (;;) yield aPod({ name: `p${looked++}` });
  }
  expect((await podsToEvict(each(endless()))).left).toBe(500);
  expect(looked).toBeLessThanOrEqual(501);
});
