import { describe, expect, test } from 'vitest';
import { applyMergePatch } from '../../../../kube/merge-patch.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { resumePatch, SUSPENDABLE, suspendPatch } from './suspension.ts';

const suspendable = (kind: string) => SUSPENDABLE.find((entry) => entry.kind.kind === kind)!;
const object = (spec: Json, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', resourceVersion: '1' },
  spec,
  ...rest,
});
const controlled = (kind: string) => ({
  metadata: { name: 'x', ownerReferences: [{ apiVersion: 'v1', kind, name: 'o', uid: 'o', controller: true }] },
});

describe('suspension', () => {
  test.each<[string, Json, Json]>([
    ['Deployment', { replicas: 3, paused: true }, { replicas: 0, paused: true }],
    ['StatefulSet', { replicas: 1 }, { replicas: 0 }],
    ['CronJob', { schedule: '* * * * *' }, { schedule: '* * * * *', suspend: true }],
    ['Job', { suspend: false }, { suspend: true }],
    ['Runtime', { replicas: 2, autoscaling: { maxReplicas: 9 } }, { replicas: 0 }],
    [
      'DaemonSet',
      { template: { spec: { nodeSelector: { a: 'b' } } } },
      { template: { spec: { nodeSelector: { a: 'b', 'tenantry.dev/suspended': 'true' } } } },
    ],
    ['DaemonSet', { template: { spec: {} } }, { template: { spec: { nodeSelector: { 'tenantry.dev/suspended': 'true' } } } }],
  ])('takes a %s down, and resuming gives exactly what was', (kind, before, during) => {
    const original = object(before);
    const suspended = applyMergePatch(original, suspendPatch(suspendable(kind), original)) as KubeObject;
    expect(suspended.spec).toEqual(during);
    expect(suspendPatch(suspendable(kind), suspended)).toBeUndefined();
    const resumed = applyMergePatch(suspended, resumePatch(suspended)) as KubeObject;
    expect(resumed.spec).toEqual(before);
    expect(resumed.metadata.annotations ?? {}).toEqual({});
    expect(original.spec).toEqual(before);
  });

  test.each<[string, string, KubeObject]>([
    ['has nothing running', 'Deployment', object({ replicas: 0 })],
    ['is suspended by its owner', 'CronJob', object({ suspend: true })],
    ['is a Runtime’s', 'Deployment', object({ replicas: 1 }, controlled('Runtime'))],
    ['is a Deployment’s', 'ReplicaSet', object({ replicas: 1 }, controlled('Deployment'))],
    ['has ended', 'Job', object({}, { status: { conditions: [{ type: 'Complete', status: 'True' }] } })],
    ['is on its way out', 'Deployment', object({ replicas: 1 }, { metadata: { name: 'x', deletionTimestamp: 'now' } })],
  ])('leaves alone what %s', (_what, kind, given) => {
    expect(suspendPatch(suspendable(kind), given)).toBeUndefined();
    expect(resumePatch(given)).toBeUndefined();
  });

  test('remembers what was before the suspension, when somebody scaled in between', () => {
    const annotations = { 'tenantry.dev/replicas-before-suspension': '{"replicas":5}' };
    const scaled = object({ replicas: 1 }, { metadata: { name: 'x', annotations } });
    expect(suspendPatch(suspendable('Deployment'), scaled).metadata.annotations).toEqual(annotations);
  });

  test('restores nothing from an annotation that it cannot read', () => {
    const annotations = { 'tenantry.dev/replicas-before-suspension': 'three' };
    expect(resumePatch(object({ replicas: 0 }, { metadata: { name: 'x', annotations } })).spec).toEqual({});
  });
});
