import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { priority, SYSTEM_PRIORITY_CLASSES } from './priority.ts';
import { aPod, aRequest, refusalOf } from './testing/a-request.ts';
import { ObjectsInMemory } from './testing/objects-in-memory.ts';

const CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

function aClass(name: string, value: number, extra: Record<string, unknown> = {}): KubeObject {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, ...extra };
}

function withClasses(...classes: KubeObject[]) {
  const objects = new ObjectsInMemory();
  for (const each of [...SYSTEM_PRIORITY_CLASSES, ...classes]) objects.put(CLASSES, each);
  return priority(objects);
}

describe('priority on pods', () => {
  it.each<[string, KubeObject[], object, object]>([
    ['no class at all', [], {}, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
    [
      'a named class',
      [aClass('high', 10, { preemptionPolicy: 'Never' })],
      { priorityClassName: 'high' },
      { priority: 10, preemptionPolicy: 'Never' },
    ],
    ['a system class', [], { priorityClassName: 'system-node-critical' }, { priority: 2_000_001_000 }],
    [
      'the default class with the lowest value',
      [aClass('a', 7, { globalDefault: true }), aClass('b', 5, { globalDefault: true })],
      {},
      { priorityClassName: 'b', priority: 5 },
    ],
  ])('is computed from %s', (_name, classes, spec, expected) => {
    const request = aRequest('pods', aPod({ ...spec }));
    void withClasses(...classes).mutate!(request);
    expect(request.object!.spec).toMatchObject(expected);
  });

  it('is refused for a class that does not exist', async () => {
    const request = aRequest('pods', aPod({ priorityClassName: 'nope' }));
    expect(await refusalOf(() => withClasses().mutate!(request))).toBe('pods "p" is forbidden: no PriorityClass with name nope was found');
  });

  it('is refused when it contradicts the class', async () => {
    const request = aRequest('pods', aPod({ priority: 3 }));
    expect(await refusalOf(() => withClasses().mutate!(request))).toBe(
      'pods "p" is forbidden: the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    );
  });

  it('is kept by updates that leave it out', () => {
    const request = aRequest('pods', aPod(), { operation: 'UPDATE', oldObject: aPod({ priority: 4, preemptionPolicy: 'Never' }) });
    void withClasses().mutate!(request);
    expect(request.object!.spec).toMatchObject({ priority: 4, preemptionPolicy: 'Never' });
  });
});

describe('priority on classes', () => {
  it('refuses a second default', async () => {
    const plugin = withClasses(aClass('a', 1, { globalDefault: true }));
    const request = aRequest('priorityclasses', aClass('b', 2, { globalDefault: true }));
    expect(await refusalOf(() => plugin.validate!(request))).toBe(
      'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. Only one default can exist',
    );
  });

  it('lets the default be updated', () => {
    const current = aClass('a', 1, { globalDefault: true });
    void withClasses(current).validate!(aRequest('priorityclasses', current, { operation: 'UPDATE', oldObject: current }));
  });
});
