import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { nestedMountPoints, outerFirst, usedVolumes, userOf } from './pod-mounts.ts';

function aPod(spec: Json): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec };
}

const mounts = (...pairs: [string, string][]): Json => pairs.map(([name, mountPath]) => ({ name, mountPath }));

describe('usedVolumes', () => {
  it('are those that a container of any sort mounts', () => {
    const pod = aPod({
      volumes: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })),
      initContainers: [{ volumeMounts: mounts(['a', '/a']) }],
      containers: [{ volumeMounts: mounts(['b', '/b']) }, {}],
      ephemeralContainers: [{ volumeDevices: [{ name: 'd' }] }],
    });
    expect(usedVolumes(pod).map(({ name }) => name)).toEqual(['a', 'b', 'd']);
  });
});

describe('userOf', () => {
  const cases: [string, Json, number | undefined][] = [
    ['the user of the Pod', { securityContext: { runAsUser: 5 }, containers: [{}, {}] }, 5],
    ['the same user of all', { containers: [{ securityContext: { runAsUser: 7 } }, { securityContext: { runAsUser: 7 } }] }, 7],
    ['root', { securityContext: { runAsUser: 0 }, containers: [{}] }, 0],
    ['none when they differ', { securityContext: { runAsUser: 5 }, containers: [{ securityContext: { runAsUser: 7 } }, {}] }, undefined],
    ['none when one leaves it open', { containers: [{ securityContext: { runAsUser: 7 } }, {}] }, undefined],
    ['none when an init container differs', { initContainers: [{}], containers: [{ securityContext: { runAsUser: 7 } }] }, undefined],
  ];

  it.each(cases)('%s', (_, spec, user) => {
    expect(userOf(aPod(spec))).toBe(user);
  });
});

describe('nestedMountPoints', () => {
  const cases: [string, Json[], string[]][] = [
    ['nothing nested', [mounts(['own', '/a'], ['other', '/b'])], []],
    ['one inside', [mounts(['own', '/a'], ['other', '/a/b'])], ['b']],
    ['only the outer of two inside', [mounts(['own', '/a'], ['x', '/a/b/c'], ['y', '/a/b'])], ['b']],
    ['names that only begin alike', [mounts(['own', '/a'], ['x', '/ab'], ['y', '/a/b'], ['z', '/a/b2'])], ['b', 'b2']],
    ['a deep one', [mounts(['own', '/a/'], ['x', '/a//b/c/'])], ['b/c']],
    ['each container for itself', [mounts(['own', '/a'], ['x', '/a/b']), mounts(['own', '/c'], ['x', '/c/d'], ['y', '/a/e'])], ['b', 'd']],
    ['mounted twice', [mounts(['own', '/a'], ['own', '/b'], ['x', '/a/c'], ['x', '/b/d'])], ['c', 'd']],
  ];

  it.each(cases)('%s', (_, containers, nested) => {
    const pod = aPod({ containers: containers.map((volumeMounts) => ({ volumeMounts })) });
    expect(nestedMountPoints(pod, 'own').toSorted()).toEqual(nested);
  });
});

describe('outerFirst', () => {
  it('puts outer mounts before inner ones and leaves the order otherwise', () => {
    const targets = ['/a/b/c', '/z', '/a/b', '/a'].map((target) => ({ target }));
    expect(outerFirst(targets).map(({ target }) => target)).toEqual(['/z', '/a', '/a/b', '/a/b/c']);
  });
});
