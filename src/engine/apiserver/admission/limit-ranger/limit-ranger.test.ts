import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { aPod, aRequest, refusalOf } from '../testing/a-request.ts';
import { ObjectsInMemory } from '../testing/objects-in-memory.ts';
import { limitRanger } from './limit-ranger.ts';

const RANGES = { group: '', resource: 'limitranges' };

function withLimits(...limits: Json[]) {
  const objects = new ObjectsInMemory();
  objects.put(RANGES, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l', namespace: 'team' }, spec: { limits } });
  return limitRanger(objects);
}

const withResources = (requests?: Json, limits?: Json) => aPod({ containers: [{ name: 'c', resources: { requests, limits } }] });

describe('limitRanger defaults', () => {
  it('fill what containers leave out and say so in an annotation', () => {
    const plugin = withLimits({ type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } });
    const request = aRequest(
      'pods',
      aPod({ containers: [{ name: 'c', resources: { limits: { memory: '2Gi' } } }], initContainers: [{ name: 'i' }] }),
    );
    expect(plugin.handles(request)).toBe(true);
    void plugin.mutate!(request);
    expect(request.object!.spec.containers[0].resources).toEqual({ limits: { memory: '2Gi', cpu: '1' }, requests: { cpu: '100m' } });
    expect(request.object!.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c; cpu limit for container c; cpu request for init container i; cpu, memory limit for init container i',
    });
  });

  it('leave a pod alone that brings everything', () => {
    const request = aRequest('pods', withResources({ cpu: '1' }, { cpu: '1' }));
    void withLimits({ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '2' } }).mutate!(request);
    expect(request.object).toEqual(withResources({ cpu: '1' }, { cpu: '1' }));
  });
});

describe('limitRanger bounds', () => {
  const two = { containers: [1, 2].map((n) => ({ name: `c${n}`, resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } })) };

  it.each<[string, Json, KubeObject, string]>([
    [
      'no request',
      { type: 'Container', min: { cpu: '100m' } },
      withResources(),
      'minimum cpu usage per Container is 100m.  No request is specified',
    ],
    [
      'a request below the minimum',
      { type: 'Container', min: { cpu: '100m' } },
      withResources({ cpu: '50m' }),
      'minimum cpu usage per Container is 100m, but request is 50m',
    ],
    [
      'no limit',
      { type: 'Container', max: { memory: '1Gi' } },
      withResources(),
      'maximum memory usage per Container is 1Gi.  No limit is specified',
    ],
    [
      'a limit above the maximum',
      { type: 'Container', max: { memory: '1Gi' } },
      withResources({}, { memory: '2Gi' }),
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
    ],
    [
      'too wide a ratio',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      withResources({ cpu: '100m' }, { cpu: '500m' }),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000',
    ],
    ['a pod above its maximum', { type: 'Pod', max: { cpu: '3' } }, aPod(two), 'maximum cpu usage per Pod is 3, but limit is 4'],
    [
      'several at once',
      { type: 'Container', min: { cpu: '1', memory: '1Gi' } },
      withResources(),
      '[minimum cpu usage per Container is 1.  No request is specified, minimum memory usage per Container is 1Gi.  No request is specified]',
    ],
  ])('refuse a pod with %s', async (_name, limit, pod, message) => {
    const request = aRequest('pods', pod);
    expect(await refusalOf(() => withLimits(limit).validate!(request))).toBe(`pods "p" is forbidden: ${message}`);
  });

  it('count sidecars into the pod and init containers only where they need more', async () => {
    const pod = aPod({
      containers: [{ name: 'c', resources: { limits: { cpu: '1' } } }],
      initContainers: [
        { name: 's', restartPolicy: 'Always', resources: { limits: { cpu: '1' } } },
        { name: 'i', resources: { limits: { cpu: '2' } } },
      ],
    });
    const plugin = (max: string) => withLimits({ type: 'Pod', max: { cpu: max } });
    expect(await refusalOf(() => plugin('3').validate!(aRequest('pods', pod)))).toBe('');
    expect(await refusalOf(() => plugin('2').validate!(aRequest('pods', pod)))).toContain('but limit is 3');
  });

  it.each<[string, Json, string]>([
    ['small', { min: { storage: '1Gi' } }, 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi'],
    ['large', { max: { storage: '100Mi' } }, 'maximum storage usage per PersistentVolumeClaim is 100Mi, but request is 512Mi'],
  ])('refuse a claim that is too %s', async (_name, limit, message) => {
    const claim: KubeObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'team' },
      spec: { resources: { requests: { storage: '512Mi' } } },
    };
    const plugin = withLimits({ type: 'PersistentVolumeClaim', ...limit });
    expect(await refusalOf(() => plugin.validate!(aRequest('persistentvolumeclaims', claim)))).toBe(
      `persistentvolumeclaims "data" is forbidden: ${message}`,
    );
  });

  it('have nothing to say in namespaces without ranges and on updates of pods', () => {
    const plugin = withLimits({ type: 'Container', min: { cpu: '1' } });
    expect(plugin.handles(aRequest('pods', aPod({}, { namespace: 'other' })))).toBe(false);
    expect(plugin.handles(aRequest('pods', aPod(), { operation: 'UPDATE', oldObject: aPod() }))).toBe(false);
  });
});
