import { describe, expect, it } from 'vitest';
import type { Json } from '../../../kube/object.ts';
import { mergeTolerations, runtimeClass } from './runtime-class.ts';
import { aPod, aRequest, refusalOf } from './testing/a-request.ts';
import { ObjectsInMemory } from './testing/objects-in-memory.ts';

const CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };

function withClass(fields: Json) {
  const objects = new ObjectsInMemory();
  objects.put(CLASSES, { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'vm' }, handler: 'vm', ...fields });
  return runtimeClass(objects);
}

const vmPod = (spec: Json = {}) => aRequest('pods', aPod({ runtimeClassName: 'vm', ...spec }));

describe('runtimeClass', () => {
  it('adds overhead, node selector and tolerations of the class', () => {
    const plugin = withClass({
      overhead: { podFixed: { memory: '64Mi' } },
      scheduling: { nodeSelector: { kvm: 'true' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
    });
    const request = vmPod({ nodeSelector: { zone: 'a' } });
    void plugin.mutate!(request);
    expect(request.object!.spec).toMatchObject({
      overhead: { memory: '64Mi' },
      nodeSelector: { kvm: 'true', zone: 'a' },
      tolerations: [{ key: 'vm', operator: 'Exists' }],
    });
    void plugin.validate!(request);
  });

  it.each<[string, Json, Json, string]>([
    ['a missing class', {}, { runtimeClassName: 'gone' }, 'pod rejected: RuntimeClass "gone" not found'],
    [
      'another overhead',
      { overhead: { podFixed: { cpu: '1' } } },
      { overhead: { cpu: '2' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      'a contradicting node selector',
      { scheduling: { nodeSelector: { kvm: 'true' } } },
      { nodeSelector: { kvm: 'false' } },
      'conflict: runtimeClass.scheduling.nodeSelector[kvm] = true; pod.spec.nodeSelector[kvm] = false',
    ],
  ])('refuses %s', async (_name, fields, spec, message) => {
    expect(await refusalOf(() => withClass(fields).mutate!(vmPod(spec)))).toBe(`pods "p" is forbidden: ${message}`);
  });

  it('refuses an overhead that no class gave', async () => {
    expect(await refusalOf(() => withClass({}).validate!(vmPod({ overhead: { cpu: '1' } })))).toBe(
      'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
  });
});

describe('mergeTolerations', () => {
  const exists = (key?: string, effect?: string) => ({ ...(key && { key }), operator: 'Exists', ...(effect && { effect }) });

  it.each<[string, Json[], Json[], Json[]]>([
    ['keeps distinct ones', [exists('a')], [exists('b')], [exists('a'), exists('b')]],
    ['drops repeated ones', [exists('a')], [exists('a')], [exists('a')]],
    ['drops what a later one covers', [exists('a', 'NoSchedule')], [exists('a')], [exists('a')]],
    ['drops what an earlier one covers', [exists()], [exists('a')], [exists()]],
  ])('%s', (_name, first, second, expected) => {
    expect(mergeTolerations(first, second)).toEqual(expected);
  });
});
