import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import { Expectations } from './expectations.ts';

function aPod(name: string, version: number, deletionTimestamp?: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'x', uid: name, resourceVersion: String(version), deletionTimestamp },
  };
}

function cache() {
  const objects = new Map<string, KubeObject>();
  let report: (change: Change<KubeObject>) => void = () => {};
  const informer = { get: (key: string) => objects.get(key), onChange: (handler: typeof report) => ((report = handler), () => {}) };
  return {
    informer: informer as unknown as Informer,
    show(pod: KubeObject) {
      objects.set(`x/${pod.metadata.name}`, pod);
      report({ type: 'added', object: pod });
    },
    drop(pod: KubeObject) {
      objects.delete(`x/${pod.metadata.name}`);
      report({ type: 'deleted', object: pod });
    },
  };
}

test('a created Pod is expected until the cache shows it', () => {
  const { informer, show } = cache();
  const expectations = new Expectations(informer, () => 0);
  expectations.created('k', aPod('a', 5));
  expect(expectations.pending('k')).toBeGreaterThan(0);
  expect(expectations.pending('other')).toBe(0);
  show(aPod('b', 4));
  expect(expectations.pending('k')).toBeGreaterThan(0);
  show(aPod('a', 5));
  expect(expectations.pending('k')).toBe(0);
});

test('a created Pod that came and went before its creation was answered is not waited for', () => {
  const { informer, show, drop } = cache();
  const expectations = new Expectations(informer, () => 0);
  show(aPod('a', 5));
  drop(aPod('a', 6));
  expectations.created('k', aPod('a', 5));
  expect(expectations.pending('k')).toBe(0);
});

test('a deleted Pod is expected until it is going or gone', () => {
  const { informer, show, drop } = cache();
  const expectations = new Expectations(informer, () => 0);
  show(aPod('a', 1));
  show(aPod('b', 2));
  expectations.deleted('k', aPod('a', 1));
  expectations.deleted('k', aPod('b', 2));
  show(aPod('a', 3, 'now'));
  expect(expectations.pending('k')).toBeGreaterThan(0);
  drop(aPod('b', 4));
  expect(expectations.pending('k')).toBe(0);
});

test('what never shows is forgotten after five minutes', () => {
  let now = 0;
  const expectations = new Expectations(cache().informer, () => now);
  expectations.created('k', aPod('a', 5));
  now = 299_000;
  expect(expectations.pending('k')).toBe(1000);
  now = 300_000;
  expect(expectations.pending('k')).toBe(0);
});
