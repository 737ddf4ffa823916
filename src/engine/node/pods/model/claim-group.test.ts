import { expect, test } from 'vitest';
import type { PodSpec } from '../../../../kube/generated/core-v1.ts';
import { aPod } from '../testing/a-pod.ts';
import { withClaimGroup } from './claim-group.ts';

const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
const groupOf = (spec: Partial<PodSpec>, namespace = 'shop') =>
  withClaimGroup(aPod(spec, {}, { namespace })).spec!.securityContext?.fsGroup;

test('Pods of a namespace share a group on their claims', () => {
  expect(groupOf({ volumes })).toBeGreaterThan(0x6000_0000);
  expect(groupOf({ volumes })).toBe(groupOf({ volumes }));
  expect(groupOf({ volumes }, 'other')).not.toBe(groupOf({ volumes }));
});

test.each<[string, Partial<PodSpec>, number | undefined]>([
  ['without claims there is nothing to share', { volumes: [{ name: 'e', emptyDir: {} }] }, undefined],
  ['a group of its own counts', { volumes, securityContext: { fsGroup: 7 } }, 7],
  ['a user of its own needs no group', { volumes, securityContext: { runAsUser: 7 } }, undefined],
])('%s', (_name, spec, group) => {
  expect(groupOf(spec)).toBe(group);
});
