import { describe, expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';
import { goesTo, modeOf } from './goes-to.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from './propagation-settings.ts';

const P = 'propagate.hnc.x-k8s.io';
const PLATFORM = 'tenantry.dev/propagate-to-platform';
const object = (metadata: ObjectMeta, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'o', namespace: 'a', ...metadata },
  ...rest,
});
const annotated = (annotations: Record<string, string>) => object({ annotations });
const labels = { env: 'test', 'a.tree.hnc.x-k8s.io/depth': '1' };

describe('a source goes to a namespace below', () => {
  test.each([
    ['plain', object({}), true, false],
    ['selected', annotated({ [`${P}/select`]: 'env=test' }), true, true],
    ['not selected', annotated({ [`${P}/select`]: 'env=x' }), false, false],
    ['in the tree', annotated({ [`${P}/treeSelect`]: 'a' }), true, true],
    ['not in the tree', annotated({ [`${P}/treeSelect`]: '!a' }), false, false],
    ['none', annotated({ [`${P}/none`]: 'true' }), false, false],
    ['none: false', annotated({ [`${P}/none`]: 'false' }), true, false],
    ['all', annotated({ [`${P}/all`]: 'true' }), true, true],
    ['all: false', annotated({ [`${P}/all`]: 'false' }), true, false],
    ['selected, and none', annotated({ [`${P}/select`]: 'env=test', [`${P}/none`]: 'true' }), false, false],
  ])('%s', (_, source, inPropagate, inAllowPropagate) => {
    const goes = (mode: Parameters<typeof goesTo>[2]) => goesTo(source, { labels, role: undefined }, mode, DEFAULT_PROPAGATION_SETTINGS);
    expect([goes('Propagate'), goes('AllowPropagate'), goes('Remove'), goes('Ignore')]).toEqual([
      inPropagate,
      inAllowPropagate,
      false,
      false,
    ]);
  });
});

describe('what is never copied, although its author asks for it', () => {
  const all = { [`${P}/all`]: 'true' };
  test.each([
    ['something with a finalizer', object({ annotations: all, finalizers: ['x/y'] })],
    ['the CA of the cluster', object({ annotations: all, name: 'kube-root-ca.crt' })],
    ['the CA of Istio', object({ annotations: all, name: 'istio-ca-root-cert' })],
    ['a release of Helm', object({ annotations: all }, { kind: 'Secret', type: 'helm.sh/release.v1' })],
    ['the token of a service account', object({ annotations: all }, { kind: 'Secret', type: 'kubernetes.io/service-account-token' })],
    ["Rancher's", object({ annotations: all, labels: { 'cattle.io/creator': 'norman' } })],
    ["OpenShift's", object({ annotations: { ...all, 'openshift.io/description': '' } })],
  ])('%s', (_, source) => {
    expect(goesTo(source, { labels, role: undefined }, 'Propagate', DEFAULT_PROPAGATION_SETTINGS)).toBe(false);
  });

  test('a kind of the same name in another group, is copied', () => {
    const other = { ...object({ name: 'kube-root-ca.crt' }), apiVersion: 'example.com/v1' };
    expect(goesTo(other, { labels, role: undefined }, 'Propagate', DEFAULT_PROPAGATION_SETTINGS)).toBe(true);
  });
});

describe("a namespace of a tenant that is not its owners'", () => {
  test.each([
    ['gets nothing', {}, false],
    ['gets nothing that only asks for all', { [`${P}/all`]: 'true' }, false],
    ['gets what the platform vouches for', { [PLATFORM]: 'true' }, true],
    ['not what says so otherwise', { [PLATFORM]: 'yes' }, false],
    ['not what is not to be copied at all', { [PLATFORM]: 'true', [`${P}/none`]: 'true' }, false],
  ])('%s', (_, annotations, goes) => {
    expect(goesTo(annotated(annotations), { labels, role: 'tenant-system' }, 'Propagate', DEFAULT_PROPAGATION_SETTINGS)).toBe(goes);
  });
});

test('a mode, is Propagate when nothing is said and Ignore when nobody knows it', () => {
  expect(['', undefined, 'Remove', 'AllowPropagate', 'Whatever'].map(modeOf)).toEqual([
    'Propagate',
    'Propagate',
    'Remove',
    'AllowPropagate',
    'Ignore',
  ]);
});
